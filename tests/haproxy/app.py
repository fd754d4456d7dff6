"""An app as there are many: it asks a chat server through the OpenAI SDK, and prints what comes as it comes.

    OPENAI_BASE_URL=http://127.0.0.1:8080/v1 OPENAI_API_KEY=none python tests/haproxy/app.py [QUESTIONS]
"""

import sys

import openai

app = openai.OpenAI(max_retries=0)
for question in range(int(sys.argv[1]) if len(sys.argv) > 1 else 13):
    messages = [{"role": "user", "content": f"Question {question + 1:02}: why is rain wet?"}]
    for event in app.chat.completions.create(model="llama-3.1-8b", messages=messages, stream=True):
        for choice in event.choices:
            print(choice.delta.content or "", end="", flush=True)
    print()
