"""llmock's faulty streams: the SDK meets the same fault through the proxy, and the record names it."""

import openai
import pytest
from streams import Seen, chat, client, see, stream_chat

WORDS = "one two three four five six seven eight nine ten eleven twelve "


def outcome(url: str, model: str):
    """What an app sees of the stream: the texts that came, and the kind of error, if any."""
    seen = Seen()
    try:
        for chunk in client(url).chat.completions.create(**chat(model)):
            see(seen, chunk, 0)
    except Exception as error:
        return seen.texts, type(error)
    return seen.texts, None


@pytest.fixture
def faulty(llmock, start, model):
    """Runs one faulty stream direct and one through the proxy; gives the client's view and the record."""

    def run(behavior: str, **settings):
        llmock.script(model, "reply", text=WORDS * 2)
        llmock.script(model, behavior, **settings)
        direct = outcome(llmock.url, model)
        proxy = start.proxy(llmock.url)
        assert outcome(proxy.url, model) == direct
        return direct, proxy.finish_with_one()

    return run


def test_a_cut_connection(faulty):
    (texts, error), record = faulty("stream_fault", kind="disconnect", after_chunks=6)
    assert len(texts) == 5 and error is not None
    assert record["end"] in ("truncated", "upstream_reset")
    assert record["counts"]["token_events"] == 5
    assert record["ttft_ms"] is not None and record["at"]["done_ms"] is None


def test_a_clean_end_without_the_end_of_the_answer(faulty):
    (texts, error), record = faulty("stream_fault", kind="truncate", after_chunks=6)
    assert len(texts) == 5 and error is None
    assert record["end"] == "ended_without_done"
    assert record["counts"]["done_markers"] == 0


def test_an_event_that_is_not_json(faulty):
    (texts, error), record = faulty("stream_fault", kind="malformed", after_chunks=6)
    assert len(texts) == 5 and error is not None, "the SDK gives up there"
    assert record["counts"]["parse_errors"] == 1
    assert record["counts"]["token_events"] >= 5


def test_a_stall_is_found_where_it_was(faulty):
    (texts, error), record = faulty("stream_fault", kind="stall", after_chunks=6, stall_seconds=1.0)
    assert len(texts) == 24 and error is None
    assert record["end"] == "complete"
    worst = record["stalls"][0]
    assert worst["after_token"] == 5
    assert 900 <= worst["gap_ms"] == record["gaps"]["token"]["max_ms"]
    assert worst["gap_ms"] >= 5 * record["gaps"]["token"]["p50_ms"]
    assert record["silence"]["longest_ms"] >= 900
    assert record["verdict"]["timing"] == "stall_no_catch_up"


def test_a_slow_first_token_is_told_from_a_slow_header(llmock, start, model):
    llmock.script(model, "slow_first_token", seconds=1.0)
    proxy = start.proxy(llmock.url)
    seen = stream_chat(client(proxy.url), model)
    record = proxy.finish_with_one()
    at = record["at"]
    assert record["end"] == "complete"
    assert seen.ttft_ms >= record["ttft_ms"] >= 900
    assert at["header_ms"] <= record["ttft_ms"] / 2, "the header came at once and was passed on"
    assert at["first_byte_ms"] - at["header_ms"] >= 900


def test_an_upstream_that_is_not_there(start, model):
    gone = start.keeper()
    gone.stop()
    proxy = start.proxy(gone.url)
    with pytest.raises(openai.InternalServerError) as caught:
        stream_chat(client(proxy.url), model)
    assert caught.value.status_code == 502
    assert "dripline" in str(caught.value.body).lower()
    record = proxy.finish_with_one()
    assert (record["end"], record["response"]["origin"]) == ("upstream_unreachable", "dripline")
    assert (record["ttft_ms"], record["ttft_null"]) == (None, "upstream_failed")
