"""The official `openai` SDK for Python, with `base_url` set to the proxy, against llmock: as before, and one right record each."""

import asyncio
import time

import openai
import pytest
from openai import AsyncOpenAI
from streams import PROMPT, Seen, chat, check_pace, check_whole_chat, client, see, stream_chat
from support import API_KEY, until

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def test_streamed_chat_is_as_before_and_leaves_one_record(llmock, start, model):
    direct = stream_chat(client(llmock.url), model)
    proxy = start.proxy(llmock.url, "--label", "real peers", "--instance", "here")
    seen = stream_chat(client(proxy.url), model)

    assert direct.text == f"Hello! You said: {PROMPT[:120]}"
    assert (seen.texts, seen.finish) == (direct.texts, direct.finish)
    record = proxy.finish_with_one()
    check_whole_chat(record, seen, model)
    check_pace(record, seen, direct)
    assert (record["label"], record["instance"]) == ("real peers", "here")


def test_usage_and_ids_are_recorded(llmock, start, model):
    trace = "0af7651916cd43dd8448eb211c80319c"
    proxy = start.proxy(llmock.url)
    seen = stream_chat(
        client(proxy.url),
        model,
        stream_options={"include_usage": True},
        extra_headers={"X-Request-ID": "req-of-the-client", "traceparent": f"00-{trace}-b7ad6b7169203331-01"},
    )

    record = proxy.finish_with_one()
    check_whole_chat(record, seen, model)
    assert record["tokens"]["prompt"] == seen.usage.prompt_tokens
    assert record["tokens"]["completion"] == seen.usage.completion_tokens
    assert record["request"]["request_id"] == "req-of-the-client"
    assert record["request"]["trace_id"] == trace


def test_streams_at_the_same_time_leave_a_record_each(llmock, start, model):
    at_once = 12
    proxy = start.proxy(llmock.url)

    async def one(sdk) -> Seen:
        seen = Seen()
        began = time.monotonic()
        async for chunk in await sdk.chat.completions.create(**chat(model)):
            see(seen, chunk, (time.monotonic() - began) * 1e3)
        return seen

    async def all_at_once() -> list[Seen]:
        async with AsyncOpenAI(base_url=f"{proxy.url}/v1", api_key=API_KEY, max_retries=0) as sdk:
            return await asyncio.gather(*(one(sdk) for _ in range(at_once)))

    seen = {s.id: s for s in asyncio.run(all_at_once())}
    records = proxy.finish()
    assert len(records) == len(seen) == at_once
    assert len({r["id"] for r in records}) == at_once
    for record in records:
        check_whole_chat(record, seen[record["response"]["id"]], model)
    assert max(r["load"]["in_flight"] for r in records) >= 1, "they overlapped"


def test_a_tool_call_is_told_from_an_answer(llmock, start, model):
    def arguments(url: str) -> str:
        deltas = [c.choices[0].delta for c in client(url).chat.completions.create(**chat(model, tools=[WEATHER]))]
        return "".join(call.function.arguments or "" for d in deltas for call in d.tool_calls or [])

    proxy = start.proxy(llmock.url)
    assert arguments(proxy.url) == arguments(llmock.url) != ""
    record = proxy.finish_with_one()
    assert record["end"] == "complete"
    assert record["request"]["has_tools"] is True
    assert record["ttft_ms"] == record["at"]["first_tool_ms"] is not None
    assert record["ttfa_ms"] is None and record["at"]["first_content_ms"] is None


def test_a_whole_reply_has_no_ttft(llmock, start, model):
    asked = {**chat(model), "stream": False}
    direct = client(llmock.url).chat.completions.create(**asked)
    proxy = start.proxy(llmock.url)
    seen = client(proxy.url).chat.completions.create(**asked)

    assert seen.choices == direct.choices
    record = proxy.finish_with_one()
    assert (record["api"], record["end"], record["request"]["stream"]) == ("chat", "complete", False)
    assert (record["ttft_ms"], record["ttft_null"], record["verdict"]) == (None, "not_a_stream", None)


def test_models_pass_without_a_record(llmock, start, model):
    proxy = start.proxy(llmock.url)
    assert client(proxy.url).models.list().data == client(llmock.url).models.list().data
    stream_chat(client(proxy.url), model)
    assert proxy.finish_with_one()["request"]["path"] == "/v1/chat/completions"


def test_models_leave_a_record_when_all_are_asked_for(llmock, start):
    proxy = start.proxy(llmock.url, "--record", "all")
    client(proxy.url).models.list()
    record = proxy.finish_with_one()
    request = record["request"]
    assert (request["method"], request["path"], request["model"]) == ("GET", "/v1/models", None)
    assert (record["api"], record["end"], record["ttft_null"]) == ("json", "complete", "not_a_stream")


@pytest.mark.parametrize("status, raised", [(401, openai.AuthenticationError), (404, openai.NotFoundError)])
def test_the_servers_errors_pass_alike(llmock, start, model, status, raised):
    def error(url: str) -> openai.APIStatusError:
        with pytest.raises(raised) as caught:
            stream_chat(client(url), model, extra_headers={"x-llmock-force-status": str(status)})
        return caught.value

    proxy = start.proxy(llmock.url)
    direct, seen = error(llmock.url), error(proxy.url)
    assert (seen.status_code, seen.body, seen.message) == (direct.status_code, direct.body, direct.message)
    record = proxy.finish_with_one()
    assert (record["end"], record["ttft_ms"], record["ttft_null"]) == ("http_error", None, "http_error")
    assert record["response"]["status"] == status
    assert record["response"]["origin"] == "upstream"


def test_a_client_that_leaves_ends_the_servers_work(llmock, start, model):
    llmock.script(model, "reply", text="word " * 400)
    proxy = start.proxy(llmock.url)
    with client(proxy.url) as sdk:
        stream = sdk.chat.completions.create(**chat(model))
        texts = [chunk.choices[0].delta.content for chunk, _ in zip(stream, range(6))]
        stream.close()

    assert texts == ["", *["word "] * 5]
    (served,) = until(lambda: llmock.served(model), 5, "the server to be left alone")
    assert served["completed"] is False and served["chunks_sent"] < 200
    (record,) = proxy.wait_for_records(1)
    assert record["end"] == "client_gone"
    assert 5 <= record["counts"]["token_events"] < 200
    assert record["ttft_ms"] is not None and record["at"]["done_ms"] is None
    proxy.finish_with_one()


def test_a_client_that_leaves_before_the_first_token(llmock, start, model):
    llmock.script(model, "slow_first_token", seconds=60)
    proxy = start.proxy(llmock.url)
    with client(proxy.url) as sdk:
        stream = sdk.chat.completions.create(**chat(model))
        stream.close()

    (served,) = until(lambda: llmock.served(model), 5, "the server to be left alone")
    assert served["completed"] is False and served["chunks_sent"] == 0
    (record,) = proxy.wait_for_records(1)
    assert (record["end"], record["ttft_ms"], record["ttft_null"]) == ("client_gone", None, "client_gone")
    assert record["at"]["header_ms"] is not None, "the header passed at once, long before any event"
    proxy.finish_with_one()
