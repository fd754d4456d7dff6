"""Real records to make a large log of: the simulated server's streams through a real proxy, and requests that fail."""

import json
import socket
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

from support import Process, Proxy, dripline_binary, nobodys_port, until

# Each scenario's streams come in a way of their own. The slow ones go first: all are sent at once.
SCENARIOS = ["slow_first_token", "stall", "steady", "block_buffered", "timer_flushed", "whole_body", "gzip_unflushed",
             "reasoning", "tool_call", "truncated", "error_in_200"]  # fmt: skip
# Paths of the other dialects, and what their bodies name the prompt.
DIALECTS = ["/v1/responses", "/v1/messages", "/v1/completions", "/api/chat", "/v1beta/models/steady:streamGenerateContent?alt=sse"]


def real_records(folder, *more) -> list[dict]:
    """About 30 records, by proxies with `more` options: of each scenario with and without a timeline, of each dialect, of failures."""
    server = Process("simulate", [dripline_binary(), "simulate", "--listen", "127.0.0.1:0"], folder)
    url = server.wait_for_line(r"http://127\.0\.0\.1:\d+")[0]
    proxies = []
    for name, upstream, options in [
        ("plain", url, ["--record", "all"]),
        ("timeline", url, ["--timeline"]),
        ("nobody", f"http://127.0.0.1:{nobodys_port()}", []),
    ]:
        (folder / name).mkdir()
        proxies.append(Proxy(upstream, folder / name, "--instance", name, *options, *more))
    plain, timeline, nobody = proxies
    calls = [
        *((proxy, "/v1/chat/completions", model, True) for model in SCENARIOS for proxy in (plain, timeline)),
        *((plain, path, "steady", True) for path in DIALECTS),
        (plain, "/v1/chat/completions", "steady", False),
        (plain, "/v1/models", None, None),
        (plain, "/no/such/path", None, None),
        (nobody, "/v1/chat/completions", "steady", True),
    ]
    with ThreadPoolExecutor(len(calls)) as pool:
        list(pool.map(lambda call: ask(*call), calls))
    leave_early(plain)
    records = [record for proxy in proxies for record in proxy.finish()]
    server.stop()
    return sorted(records, key=lambda record: json.dumps([record["request"], record["instance"], record["end"]]))


def ask(proxy: Proxy, path: str, model, stream):
    """Sends one request and reads its answer, whatever that is."""
    body = None
    if model:
        text = {"messages": [{"role": "user", "content": "hi"}], "prompt": "hi", "input": "hi", "contents": []}
        body = json.dumps({"model": model, "stream": stream, "max_tokens": 40, **text}).encode()
    request = urllib.request.Request(proxy.url + path, body, {"Content-Type": "application/json", "x-request-id": f"of-{model}"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            answer.read()
    except (urllib.error.HTTPError, OSError, ValueError) as expected:
        del expected  # a cut or a refusal is what some are for
    except Exception as error:
        if type(error).__name__ != "IncompleteRead":
            raise


def leave_early(proxy: Proxy):
    """A client that closes in the middle of a stream."""
    before = len(proxy.records())
    body = b'{"model":"steady","stream":true,"messages":[]}'
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: here\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with socket.create_connection(("127.0.0.1", proxy.port)) as client:
        client.sendall(head + body)
        client.recv(100)
    until(lambda: len(proxy.records()) > before, 10, "the record of a client that left")
