"""The client of a stream: raw sockets, so that nothing between stands in the way; it takes the frames off by itself."""

import asyncio
import socket
import time
import zlib
from dataclasses import dataclass, field


@dataclass
class Reply:
    sent_ns: int
    status: int = 0
    headers: list = field(default_factory=list)
    body: bytes = b""
    whole: bool = False
    ended_ns: int = 0


async def ask(port: int, path: str, body: bytes, request_id: str, accept_encoding: str | None, client: dict) -> Reply:
    loop = asyncio.get_running_loop()
    with socket.socket() as s:
        if "receive_buffer" in client:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, client["receive_buffer"])
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        s.setblocking(False)
        await loop.sock_connect(s, ("127.0.0.1", port))
        fields = [f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Content-Type: application/json"]
        fields += [f"Content-Length: {len(body)}", f"X-Request-Id: {request_id}", "Accept: text/event-stream"]
        if accept_encoding:
            fields.append(f"Accept-Encoding: {accept_encoding}")
        fields.append("Connection: close")  # the end of the connection is the end of the reply
        reply = Reply(time.monotonic_ns())
        await loop.sock_sendall(s, ("\r\n".join(fields) + "\r\n\r\n").encode() + body)
        parts, started, has_stopped = [], time.monotonic(), False
        while data := await loop.sock_recv(s, 65536):
            parts.append(data)
            if "stop_at_s" in client and not has_stopped and time.monotonic() - started > client["stop_at_s"]:
                has_stopped = True
                await asyncio.sleep(client["stop_for_s"])
        reply.ended_ns = time.monotonic_ns()
    take_apart(b"".join(parts), reply)
    return reply


def take_apart(data: bytes, reply: Reply):
    head, _, rest = data.partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    reply.status = int(status.split(" ")[1])
    reply.headers = [line.split(": ", 1) for line in lines]
    fields = {name.lower(): value for name, value in reply.headers}
    if fields.get("transfer-encoding", "").lower() == "chunked":
        reply.body, reply.whole = unchunk(rest)
    else:
        reply.body = rest
        reply.whole = "content-length" not in fields or len(rest) == int(fields["content-length"])


def unchunk(data: bytes) -> tuple[bytes, bool]:
    parts, at = [], 0
    while (line_end := data.find(b"\r\n", at)) >= 0:
        size = int(data[at:line_end].split(b";")[0], 16)
        if size == 0:
            return b"".join(parts), True
        parts.append(data[line_end + 2 : line_end + 2 + size])
        at = line_end + 2 + size + 2
    return b"".join(parts), False


def packed(body: bytes) -> bytes:
    return zlib.compress(body, 1)
