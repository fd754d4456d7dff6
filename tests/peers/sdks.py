"""The official SDKs as the tests use them: one class for each way to ask, all with the same few words.

`stream` gives the SDK's own objects in their order (a stream helper's final answer comes last), `whole` the one object of a
reply that is not streamed. The rest reads from these what the record has to agree with.
"""

from collections.abc import Iterator

import anthropic
import openai
from google import genai
from support import API_KEY, SECRET_WORD

# llmock answers "Hello! You said: " and the prompt, a word per event.
PROMPT = f"{SECRET_WORD} größer 音楽 a b c d e f g"
TEXT = f"Hello! You said: {PROMPT}"

WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TIMEOUT_S = 30


class Sdk:
    api: str
    path: str
    # Events on the wire that the SDK keeps to itself.
    hidden_events = 0
    keepalives = 0
    has_end_marker = True

    def stream(self, url: str, model: str, tools=False, headers=None, retries=0) -> Iterator:
        raise NotImplementedError

    def whole(self, url: str, model: str):
        raise NotImplementedError

    def wire_events(self, events: list) -> list:
        """Without what a stream helper adds."""
        return [e for e in events if not is_derived(e)]

    def texts(self, events: list) -> list[str]:
        """Each piece of text, in order."""
        raise NotImplementedError

    def tool_pieces(self, events: list) -> list[str]:
        """Each piece of a tool call."""
        raise NotImplementedError

    def token_events(self, events: list) -> int:
        """How many events of the wire carried output."""
        return len(self.texts(events)) + len(self.tool_pieces(events))

    def id(self, events: list) -> str | None:
        raise NotImplementedError

    def usage(self, events: list) -> tuple[int, int]:
        """Prompt and completion tokens."""
        raise NotImplementedError

    def whole_usage(self, answer) -> tuple[int, int]:
        raise NotImplementedError

    def whole_names(self, answer) -> tuple:
        """The id and the model of a reply that is not streamed."""
        return answer.id, answer.model


class OpenAIChat(Sdk):
    api, path, hidden_events = "chat", "/v1/chat/completions", 1

    def asked(self, model: str, tools=False) -> dict:
        function = {"type": "function", "function": {"name": "get_weather", "parameters": WEATHER}}
        messages = [{"role": "user", "content": PROMPT}]
        return {"model": model, "messages": messages, **({"tools": [function]} if tools else {})}

    def stream(self, url, model, tools=False, headers=None, retries=0):
        options = {"stream_options": {"include_usage": True}, "extra_headers": headers}
        with openai_client(url, retries) as sdk:
            yield from sdk.chat.completions.create(stream=True, **self.asked(model, tools), **options)

    def whole(self, url, model):
        with openai_client(url) as sdk:
            return sdk.chat.completions.create(**self.asked(model))

    def texts(self, events):
        return [c.delta.content for e in events for c in e.choices if c.delta.content]

    def tool_pieces(self, events):
        calls = [call.function for e in events for c in e.choices for call in c.delta.tool_calls or []]
        return [(call.name or "") + (call.arguments or "") for call in calls]

    def id(self, events):
        return events[0].id

    def usage(self, events):
        return self.whole_usage(events[-1])

    def whole_usage(self, answer):
        return answer.usage.prompt_tokens, answer.usage.completion_tokens


class OpenAIResponses(Sdk):
    api, path = "responses", "/v1/responses"

    def asked(self, model: str, tools=False) -> dict:
        function = {"type": "function", "name": "get_weather", "parameters": WEATHER, "strict": False}
        return {"model": model, "input": PROMPT, **({"tools": [function]} if tools else {})}

    def stream(self, url, model, tools=False, headers=None, retries=0):
        with openai_client(url, retries) as sdk:
            yield from sdk.responses.create(stream=True, **self.asked(model, tools), extra_headers=headers)

    def whole(self, url, model):
        with openai_client(url) as sdk:
            return sdk.responses.create(**self.asked(model))

    def texts(self, events):
        return [e.delta for e in events if e.type == "response.output_text.delta"]

    def tool_pieces(self, events):
        return [e.delta for e in events if e.type == "response.function_call_arguments.delta"]

    def id(self, events):
        return events[0].response.id

    def usage(self, events):
        (end,) = [e for e in events if e.type == "response.completed"]
        return self.whole_usage(end.response)

    def whole_usage(self, answer):
        return answer.usage.input_tokens, answer.usage.output_tokens


class OpenAIResponsesHelper(OpenAIResponses):
    def stream(self, url, model, tools=False, headers=None, retries=0):
        with openai_client(url, retries) as sdk:
            with sdk.responses.stream(**self.asked(model, tools), extra_headers=headers) as stream:
                yield from stream
                yield Final("response", stream.get_final_response())


class AnthropicMessages(Sdk):
    api, path, keepalives = "messages", "/anthropic/v1/messages", 1

    def asked(self, model: str, tools=False) -> dict:
        tool = {"name": "get_weather", "input_schema": WEATHER}
        messages = [{"role": "user", "content": PROMPT}]
        return {"model": model, "max_tokens": 1000, "messages": messages, **({"tools": [tool]} if tools else {})}

    def stream(self, url, model, tools=False, headers=None, retries=0):
        with anthropic_client(url, retries) as sdk:
            yield from sdk.messages.create(stream=True, **self.asked(model, tools), extra_headers=headers)

    def whole(self, url, model):
        with anthropic_client(url) as sdk:
            return sdk.messages.create(**self.asked(model))

    def texts(self, events):
        return [d.text for d in self._deltas(events) if d.type == "text_delta"]

    def tool_pieces(self, events):
        return [d.partial_json for d in self._deltas(events) if d.type == "input_json_delta"]

    def id(self, events):
        return events[0].message.id

    def usage(self, events):
        (end,) = [e for e in events if e.type == "message_delta"]
        return events[0].message.usage.input_tokens, end.usage.output_tokens

    def whole_usage(self, answer):
        return answer.usage.input_tokens, answer.usage.output_tokens

    def _deltas(self, events):
        return [e.delta for e in events if e.type == "content_block_delta"]


class AnthropicHelper(AnthropicMessages):
    def stream(self, url, model, tools=False, headers=None, retries=0):
        with anthropic_client(url, retries) as sdk:
            with sdk.messages.stream(**self.asked(model, tools), extra_headers=headers) as stream:
                yield from stream
                yield Final("message", stream.get_final_message())


class GoogleGenai(Sdk):
    api, path, has_end_marker = "gemini", "/gemini/v1beta/models/{model}:streamGenerateContent", False

    def client(self, url: str, headers=None) -> genai.Client:
        options = {"base_url": f"{url}/gemini", "api_version": "v1beta", "headers": headers, "timeout": TIMEOUT_S * 1000}
        return genai.Client(api_key=API_KEY, http_options=options, vertexai=False)

    def stream(self, url, model, tools=False, headers=None, retries=0):
        declared = [{"name": "get_weather", "parameters_json_schema": WEATHER}]
        config = {"tools": [{"function_declarations": declared}] if tools else []}
        with self.client(url, headers) as sdk:
            yield from sdk.models.generate_content_stream(model=model, contents=PROMPT, config=config)

    def whole(self, url, model):
        with self.client(url) as sdk:
            return sdk.models.generate_content(model=model, contents=PROMPT)

    def texts(self, events):
        return [p.text for p in self._parts(events) if p.text]

    def tool_pieces(self, events):
        return [p.function_call.name for p in self._parts(events) if p.function_call]

    def token_events(self, events):
        return sum(any(p.text or p.function_call for p in self._parts([e])) for e in events)

    def id(self, events):
        return events[0].response_id

    def usage(self, events):
        return self.whole_usage(events[-1])

    def whole_usage(self, answer):
        return answer.usage_metadata.prompt_token_count, answer.usage_metadata.candidates_token_count

    def whole_names(self, answer):
        return answer.response_id, answer.model_version

    def _parts(self, events):
        return [p for e in events for c in e.candidates for p in c.content.parts or []]


SDKS = {
    "openai-chat": OpenAIChat(),
    "openai-responses": OpenAIResponses(),
    "openai-responses-helper": OpenAIResponsesHelper(),
    "anthropic-messages": AnthropicMessages(),
    "anthropic-messages-helper": AnthropicHelper(),
    "google-genai": GoogleGenai(),
}


def openai_client(url: str, retries=0) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{url}/v1", api_key=API_KEY, max_retries=retries, timeout=TIMEOUT_S)


def anthropic_client(url: str, retries=0) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=f"{url}/anthropic", api_key=API_KEY, max_retries=retries, timeout=TIMEOUT_S)


class Final:
    """What a stream helper put together, as the last object of its stream."""

    type = "final"

    def __init__(self, name: str, answer):
        self.name = name
        self.answer = answer


# Anthropic's helper adds these to the events of the wire.
DERIVED = {"final", "text", "input_json"}


def is_derived(event) -> bool:
    return getattr(event, "type", None) in DERIVED
