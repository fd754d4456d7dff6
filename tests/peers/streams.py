"""One streamed chat as a client saw it, and the checks that hold for the record of any whole stream."""

import time
from dataclasses import dataclass, field
from statistics import median

from openai import OpenAI
from support import API_KEY, CHUNK_DELAY_MS, SECRET_WORD

# llmock answers "Hello! You said: " and the prompt, a word per event.
PROMPT = f"{SECRET_WORD} is a word, größer und 音楽 too " + " ".join("abcdefghijklm")


@dataclass
class Seen:
    """A stream from the client's side. Times in ms."""

    id: str | None = None
    texts: list[str] = field(default_factory=list)
    finish: str | None = None
    usage: object = None
    ttft_ms: float | None = None
    arrivals_ms: list[float] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def gap_ms(self) -> float:
        return median(b - a for a, b in zip(self.arrivals_ms, self.arrivals_ms[1:]))


def client(url: str, **options) -> OpenAI:
    return OpenAI(base_url=f"{url}/v1", api_key=API_KEY, max_retries=0, timeout=30, **options)


def chat(model: str, prompt: str = PROMPT, **options) -> dict:
    """The arguments of one streamed chat."""
    return {"model": model, "messages": [{"role": "user", "content": prompt}], "stream": True, **options}


def stream_chat(sdk: OpenAI, model: str, **options) -> Seen:
    seen = Seen()
    began = time.monotonic()
    for chunk in sdk.chat.completions.create(**chat(model, **options)):
        see(seen, chunk, (time.monotonic() - began) * 1e3)
    return seen


def see(seen: Seen, chunk, at_ms: float):
    seen.id = chunk.id
    seen.usage = chunk.usage or seen.usage
    for choice in chunk.choices:
        seen.finish = choice.finish_reason or seen.finish
        if choice.delta.content:
            seen.texts.append(choice.delta.content)
            seen.arrivals_ms.append(at_ms)
            seen.ttft_ms = seen.ttft_ms or at_ms


def check_whole_chat(record: dict, seen: Seen, model: str):
    """What must hold for the record of a whole streamed chat of llmock, however slow the machine is."""
    words = len(seen.texts)
    assert record["schema"] == 1
    assert record["api"] == "chat"
    assert record["end"] == "complete"
    assert record["error"] is None
    # The SDK leaves at [DONE], sometimes before the last, empty HTTP chunk has come.
    encoded = {"encoded"} if record["response"]["content_encoding"] else set()
    assert encoded <= set(record["flags"]) <= {"client_closed_after_done"} | encoded

    request = record["request"]
    assert (request["method"], request["path"]) == ("POST", "/v1/chat/completions")
    assert (request["model"], request["stream"], request["has_tools"]) == (model, True, False)
    assert request["client_addr"] is None

    upstream = record["upstream"]
    assert (upstream["http"], upstream["tls"], upstream["attempts"]) == ("1.1", False, 1)

    response = record["response"]
    assert (response["status"], response["origin"]) == (200, "upstream")
    assert response["content_type"].startswith("text/event-stream")
    assert response["content_encoding"] is None
    assert (response["id"], response["model"]) == (seen.id, model)

    counts = record["counts"]
    assert counts["token_events"] == words
    usage_events = 1 if seen.usage else 0
    assert counts["events"] == words + 3 + usage_events, "role, words, finish, perhaps usage, end marker"
    assert counts["done_markers"] == 1
    assert (counts["parse_errors"], counts["keepalives"]) == (0, 0)
    assert counts["chars"] == len(seen.text)
    assert counts["chunks"] >= 1
    assert counts["bytes"] > len(seen.text.encode())

    check_times(record, words)


def check_times(record: dict, words: int, has_end_marker: bool = True):
    """What must hold for the times of a stream of `words` words, without a thought or a tool call."""
    at = record["at"]
    order = ["header_ms", "first_byte_ms", "first_event_ms", "first_token_ms", "last_token_ms", "end_ms"]
    if has_end_marker:
        order.insert(-1, "done_ms")
    else:
        assert at["done_ms"] is None
    marks = [at[name] for name in order]
    assert all(a <= b for a, b in zip(marks, marks[1:])), dict(zip(order, marks))
    assert 0 <= at["request_end_ms"] <= at["header_ms"]
    assert record["ttft_null"] is None
    assert record["ttft_ms"] == record["ttfa_ms"] == at["first_token_ms"] == at["first_content_ms"]
    assert at["first_reasoning_ms"] is None and at["first_tool_ms"] is None

    gaps = record["gaps"]["token"]
    assert gaps["n"] == words - 1
    assert gaps["exact"] is True
    assert 0 <= gaps["p50_ms"] <= gaps["p90_ms"] <= gaps["p99_ms"] <= gaps["max_ms"]
    spread = at["last_token_ms"] - at["first_token_ms"]
    assert abs(gaps["mean_ms"] * gaps["n"] - spread) <= 0.001 * words + 0.001, "the gaps add up to first to last token"
    assert at["first_token_ms"] <= gaps["max_at_ms"] <= at["last_token_ms"]


def check_pace(record: dict, seen: Seen, direct: Seen):
    """The record's own pace against two clients': ratios with generous bounds, for a busy machine."""
    recorded = record["gaps"]["token"]["p50_ms"]
    assert 0.5 <= recorded / seen.gap_ms <= 2, (recorded, seen.gap_ms)
    assert 0.4 <= recorded / direct.gap_ms <= 2.5, (recorded, direct.gap_ms)
    assert recorded >= CHUNK_DELAY_MS * 0.8, "llmock sleeps this long before each event"
    assert record["ttft_ms"] <= seen.ttft_ms, "the proxy sees the first token before its client does"
    assert record["hold"]["p50_us"] <= CHUNK_DELAY_MS * 1e3 / 4, "a relay that holds each event for a quarter of a gap"
