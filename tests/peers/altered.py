"""llmock with two things that it lacks, each asked for by a request header: compressed answers, and an error inside a stream.

    x-test-encoding: gzip | deflate | br | zstd    (if the client accepts it)
    x-test-flush: event                            flush the compressor after each event; without it, when it is full
    x-test-error-after: N                          N events, then the API's own error event, and a clean end
"""

import sys
import zlib

import brotli
import uvicorn
from llmock.chaos import StreamChaos
from llmock.main import create_app
from llmock.simulation import MockResponseSettings
from starlette.datastructures import Headers, MutableHeaders

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# As each API's reference shows it; the last part of the path tells the API.
ERROR_EVENTS = {
    "completions": b'data: {"error":{"message":"Overloaded.","type":"server_error","param":null,"code":null}}\n\n',
    "responses": b'event: error\ndata: {"type":"error","code":"server_error","message":"Overloaded.","param":null,"sequence_number":6}\n\n',
    "messages": b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
    "streamGenerateContent": b'data: {"error":{"code":503,"message":"Overloaded.","status":"UNAVAILABLE"}}\n\n',
}


class Altered:
    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http":
            asked = Headers(scope=scope)
            encoding = asked.get("x-test-encoding")
            if encoding and encoding in asked.get("accept-encoding", ""):
                send = compressed(send, encoding, flush_each=asked.get("x-test-flush") == "event")
            if after := asked.get("x-test-error-after"):
                send = broken_off(send, int(after), ERROR_EVENTS[scope["path"].replace(":", "/").rsplit("/", 1)[1]])
        await self.app(scope, receive, send)


def broken_off(send, after: int, error: bytes):
    """Sends `error` as the last event, in place of the one after `after` events."""
    events = 0

    async def send_until_error(message):
        nonlocal events
        if message["type"] == "http.response.body" and events <= after:
            events += 1
            if events > after:
                message = {**message, "body": error, "more_body": False}
            await send(message)
        elif message["type"] != "http.response.body":
            await send(message)

    return send_until_error


def compressed(send, encoding: str, flush_each: bool):
    compress, flush, finish = compressor(encoding)

    async def send_compressed(message):
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=list(message["headers"]))
            headers["content-encoding"] = encoding
            headers.add_vary_header("accept-encoding")
            if "content-length" in headers:
                del headers["content-length"]
            message = {**message, "headers": headers.raw}
        else:
            body = compress(message.get("body", b""))
            if not message.get("more_body", False):
                body += finish()
            elif flush_each:
                body += flush()
            message = {**message, "body": body}
        await send(message)

    return send_compressed


def compressor(encoding: str):
    """The functions that compress, flush and finish one body."""
    if encoding == "br":
        br = brotli.Compressor()
        return br.process, br.flush, br.finish
    if encoding == "zstd":
        z = zstd.ZstdCompressor()
        return z.compress, lambda: z.flush(z.FLUSH_BLOCK), lambda: z.flush(z.FLUSH_FRAME)
    gz = zlib.compressobj(wbits={"gzip": 31, "deflate": 15}[encoding])
    return gz.compress, lambda: gz.flush(zlib.Z_SYNC_FLUSH), gz.flush


if __name__ == "__main__":
    delay_ms = int(sys.argv[1])
    llmock = create_app(
        responses=MockResponseSettings(response_style="echo"), stream_chaos=StreamChaos(chunk_delay_ms=delay_ms)
    )
    uvicorn.run(Altered(llmock), host="127.0.0.1", port=0)
