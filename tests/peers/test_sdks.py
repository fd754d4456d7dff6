"""Every SDK and API of `sdks.py` through dripline, against llmock: the same objects as direct, and one right record.

`altered` is llmock as it comes, but for the requests that ask it by a header for a compressed answer or an error in the stream.
"""

import pytest
from compare import at_once, comparable, comparable_error, outcome
from sdks import PROMPT, SDKS, TEXT, Sdk
from streams import check_times
from support import QUICK_CHUNK_DELAY_MS


@pytest.fixture(params=SDKS)
def sdk(request) -> Sdk:
    return SDKS[request.param]


def check_request(record: dict, sdk: Sdk, model: str, tools: bool = False):
    assert record["schema"] == 1
    assert record["api"] == sdk.api
    request = record["request"]
    assert (request["method"], request["path"]) == ("POST", sdk.path.format(model=model))
    assert (request["model"], request["stream"], request["has_tools"]) == (model, True, tools)


def check_stream(record: dict, sdk: Sdk, model: str, events: list, tools: bool = False):
    """What must hold for the record of any whole stream of llmock, given the objects that the SDK gave."""
    check_request(record, sdk, model, tools)
    assert (record["end"], record["error"]) == ("complete", None)
    # An SDK leaves at the end marker, sometimes before the last, empty HTTP chunk has come.
    encoded = {"encoded"} if record["response"]["content_encoding"] else set()
    assert encoded <= set(record["flags"]) <= {"client_closed_after_done"} | encoded

    response = record["response"]
    assert (response["status"], response["origin"]) == (200, "upstream")
    assert response["content_type"].startswith("text/event-stream")
    assert (response["id"], response["model"]) == (sdk.id(events), model)

    counts, texts = record["counts"], sdk.texts(events)
    assert counts["token_events"] == sdk.token_events(events)
    assert counts["keepalives"] == (sdk.keepalives if texts else 0)
    assert counts["events"] == len(sdk.wire_events(events)) + sdk.hidden_events + counts["keepalives"]
    assert counts["done_markers"] == (1 if sdk.has_end_marker else 0)
    assert (counts["parse_errors"], counts["empty_deltas"]) == (0, 0)
    assert counts["chars"] >= len("".join(texts))
    assert (record["tokens"]["prompt"], record["tokens"]["completion"]) == sdk.usage(events)


def test_a_stream(altered, start, model, sdk):
    proxy = start.proxy(altered.url)
    direct, seen = at_once(lambda: list(sdk.stream(altered.url, model)), lambda: list(sdk.stream(proxy.url, model)))

    assert comparable(seen) == comparable(direct)
    assert sdk.texts(seen) == TEXT.replace(" ", " \0").split("\0")
    record = proxy.finish_with_one()
    check_stream(record, sdk, model, seen)
    check_times(record, len(sdk.texts(seen)), has_end_marker=sdk.has_end_marker)
    assert record["counts"]["chars"] == len(TEXT)
    assert record["response"]["content_encoding"] is None
    assert record["gaps"]["token"]["p50_ms"] >= QUICK_CHUNK_DELAY_MS * 0.8, "llmock sleeps this long before each event"


@pytest.mark.parametrize("said", ["", "Let me look that up. "], ids=["silent", "spoken"])
def test_a_tool_call(altered, start, model, sdk, said):
    called = {"name": "get_weather", "arguments": {"city": "Zürich am Zürichsee", "unit": "celsius"}}
    altered.script(model, "reply", text=said, tool_calls=[called])
    proxy = start.proxy(altered.url)
    direct, seen = at_once(
        lambda: list(sdk.stream(altered.url, model, tools=True)),
        lambda: list(sdk.stream(proxy.url, model, tools=True)),
    )

    assert comparable(seen) == comparable(direct)
    assert "".join(sdk.texts(seen)) == said
    assert len(sdk.tool_pieces(seen)) == (1 if sdk.api == "gemini" else 6 if sdk.api == "chat" else 5)
    record = proxy.finish_with_one()
    check_stream(record, sdk, model, seen, tools=True)
    at = record["at"]
    assert at["first_tool_ms"] is not None and at["first_tool_ms"] >= at["header_ms"]
    assert at["first_content_ms"] == record["ttfa_ms"], "a tool call is no answer"
    assert record["ttft_ms"] == (at["first_content_ms"] if said else at["first_tool_ms"])
    assert (record["ttfa_ms"] is None) == (said == "")


def test_a_whole_reply(altered, start, model, sdk):
    direct = sdk.whole(altered.url, model)
    proxy = start.proxy(altered.url)
    seen = sdk.whole(proxy.url, model)

    assert comparable([seen]) == comparable([direct])
    assert PROMPT in str(seen)
    record = proxy.finish_with_one()
    assert (record["api"], record["end"], record["error"], record["flags"]) == (sdk.api, "complete", None, [])
    assert record["request"]["model"] == model
    assert not record["request"]["stream"], "not asked for"
    assert (record["ttft_ms"], record["ttft_null"], record["verdict"]) == (None, "not_a_stream", None)
    response, tokens = record["response"], record["tokens"]
    assert (response["id"], response["model"]) == sdk.whole_names(seen)
    assert (tokens["prompt"], tokens["completion"]) == sdk.whole_usage(seen)


# --- errors -------------------------------------------------------------------------------------------


@pytest.fixture
def failing(altered, start, model, sdk):
    """Runs one failing stream direct and one through the proxy; gives what the client has of it and the record."""

    def run(**options):
        proxy = start.proxy(altered.url)
        (events, error), (seen, seen_error) = at_once(
            lambda: outcome(sdk.stream(altered.url, model, **options)),
            lambda: outcome(sdk.stream(proxy.url, model, **options)),
        )
        assert comparable(seen) == comparable(events)
        assert comparable_error(seen_error) == comparable_error(error)
        record = proxy.finish_with_one()
        check_request(record, sdk, model)
        return seen, seen_error, record

    return run


@pytest.mark.parametrize("status", [400, 429, 529])
def test_an_error_status(altered, failing, model, status):
    altered.script(model, "fail", status=status, retry_after=7 if status == 429 else None)
    events, error, record = failing()
    assert events == [] and str(status) in str(comparable_error(error))
    if status == 429 and hasattr(error.response, "headers"):
        assert error.response.headers["retry-after"] == "7"
    assert (record["end"], record["response"]["status"]) == ("http_error", status)
    assert (record["ttft_ms"], record["ttft_null"], record["verdict"]) == (None, "http_error", None)
    assert record["response"]["origin"] == "upstream"


@pytest.mark.parametrize("sdk", [name for name in SDKS if name != "google-genai"], indirect=True)  # has no such default
def test_a_refusal_is_retried_through_the_proxy(altered, start, model, sdk):
    """The SDK waits as the server says, and asks again: two requests, two records."""
    altered.script(model, "fail", status=429, retry_after=0.02, times=1)
    proxy = start.proxy(altered.url)
    seen = list(sdk.stream(proxy.url, model, retries=1))

    assert "".join(sdk.texts(seen)) == TEXT
    assert [served["status"] for served in altered.served(model)] == [429, 200]
    refused, answered = proxy.finish()
    # Some close the refused connection at its header: whether they were there for its body is a race.
    assert refused["end"] in ("http_error", "client_gone")
    assert (refused["response"]["status"], refused["ttft_ms"], refused["ttft_null"]) == (429, None, "http_error")
    check_stream(answered, sdk, model, seen)


def test_a_cut_connection(altered, failing, sdk, model):
    altered.script(model, "stream_fault", kind="disconnect", after_chunks=6)
    events, error, record = failing()
    assert error is not None
    assert record["end"] in ("truncated", "upstream_reset")
    assert record["counts"]["token_events"] == len(sdk.texts(events)) > 0
    assert record["counts"]["events"] == 6
    assert record["ttft_ms"] is not None and record["at"]["done_ms"] is None
    assert record["tokens"]["completion"] is None or sdk.api == "messages", "usage comes at the end"


def test_a_clean_end_without_the_end_of_the_answer(altered, failing, sdk, model):
    altered.script(model, "stream_fault", kind="truncate", after_chunks=6)
    events, _, record = failing()
    assert record["end"] == "ended_without_done"
    assert record["counts"]["token_events"] == len(sdk.texts(events)) > 0
    assert (record["counts"]["done_markers"], record["at"]["done_ms"]) == (0, None)


def test_an_error_inside_the_stream(failing, sdk):
    events, error, record = failing(headers={"x-test-error-after": "6"})
    kind = {"messages": "overloaded_error", "gemini": "UNAVAILABLE"}.get(sdk.api, "server_error")
    assert error is not None or any(e.type == "error" for e in events)
    assert (record["end"], record["error"]) == ("in_band_error", {"kind": "in_band_error", "type": kind})
    assert record["counts"]["events"] == 7
    assert record["counts"]["token_events"] == len(sdk.texts(sdk.wire_events(events))) > 0
    assert record["ttft_ms"] is not None and record["response"]["status"] == 200


# --- compressed answers -------------------------------------------------------------------------------


@pytest.fixture
def compressed(altered, start, model):
    """Runs one compressed stream direct and one through the proxy; gives the client's view and the record."""

    def run(sdk: Sdk, encoding: str, **headers):
        headers = {"x-test-encoding": encoding, **headers}
        proxy = start.proxy(altered.url)
        direct, seen = at_once(
            lambda: list(sdk.stream(altered.url, model, headers=headers)),
            lambda: list(sdk.stream(proxy.url, model, headers=headers)),
        )
        assert comparable(seen) == comparable(direct)
        record = proxy.finish_with_one()
        assert encoding in record["request"]["accept_encoding"], "the SDK asks for it by itself"
        assert record["response"]["content_encoding"] == encoding
        check_stream(record, sdk, model, seen)
        check_times(record, len(sdk.texts(seen)), has_end_marker=sdk.has_end_marker)
        return record

    return run


COMPRESSED = [("openai-chat", encoding) for encoding in ("gzip", "deflate", "br", "zstd")]
COMPRESSED += [(name, "gzip") for name in ("openai-responses", "anthropic-messages", "google-genai")]


@pytest.mark.parametrize("name, encoding", COMPRESSED)
def test_a_compressed_stream_flushed_after_each_event(compressed, name, encoding):
    record = compressed(SDKS[name], encoding, **{"x-test-flush": "event"})
    assert record["gaps"]["token"]["p50_ms"] >= QUICK_CHUNK_DELAY_MS * 0.8
    assert record["verdict"]["timing"] not in ("unmeasurable", "whole_body_burst")


@pytest.mark.parametrize("name, encoding", COMPRESSED)
def test_a_compressed_stream_that_is_never_flushed(compressed, name, encoding):
    record = compressed(SDKS[name], encoding)
    at = record["at"]
    assert record["ttft_ms"] >= 0.5 * at["end_ms"], "the compressor kept all until the end"
    assert record["verdict"]["timing"] == "whole_body_burst"
    assert record["verdict"]["where"] == "upstream"
