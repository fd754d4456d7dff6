"""The objects and errors of any SDK, made comparable: what came through the proxy has to equal what came direct."""

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from sdks import Final

# llmock's ids differ from one request to the next.
ID = re.compile(r"(resp|msg|fc|call|chatcmpl|toolu)[_-][0-9a-f]{24}")
# Times, and the HTTP response with its Date.
OF_ONE_REQUEST = {"created", "created_at", "sdk_http_response"}


def comparable(answers: list) -> list:
    """The SDK's objects as plain values: ids are numbered in the order in which they first appear, times left out."""
    ids: dict[str, str] = {}

    def plain(value):
        if isinstance(value, Final):
            return [value.name, plain(value.answer)]
        if hasattr(value, "model_dump"):
            return [type(value).__name__, plain(value.model_dump(warnings=False))]
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items() if key not in OF_ONE_REQUEST}
        if isinstance(value, (list, tuple)):
            return [plain(item) for item in value]
        if isinstance(value, str) and ID.fullmatch(value):
            return ids.setdefault(value, f"id {len(ids)}")
        return value

    return [plain(answer) for answer in answers]


def at_once(direct: Callable, proxied: Callable) -> tuple:
    """What both give, run at the same time: most of it is waiting for the server's next event."""
    with ThreadPoolExecutor(1) as other:
        waiting = other.submit(direct)
        seen = proxied()
        return waiting.result(), seen


def outcome(stream: Iterator) -> tuple[list, Exception | None]:
    """What came, and the error that ended it."""
    events = []
    try:
        for event in stream:
            events.append(event)
    except Exception as error:
        return events, error
    return events, None


def comparable_error(error: Exception | None):
    """Its type, its words, and what an app would look at: the status and how long to wait."""
    answer = getattr(error, "response", None)
    headers = getattr(answer, "headers", {})
    return (
        type(error),
        str(error),
        getattr(error, "status_code", None) or getattr(error, "code", None),
        getattr(error, "body", None),
        [headers.get(name) for name in ("retry-after", "retry-after-ms")],
    )
