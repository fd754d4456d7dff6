"""A hop that does on demand what no real hop does on demand. The request says what, in `calibrate.hop`.

One port for each kind, so that each has a dripline of its own. Every kind is one small class: `event` takes the next whole
event of the stream, `end` is called after the last.

    python -m calibrate.scripted_hop upstream=PORT scripted_count=PORT …
"""

import asyncio
import gc
import json
import sys

from calibrate.emitter import read_body


class PassOn:
    """Writes each event at once."""

    holds_header = False

    def __init__(self, send, **settings):
        self.send = send
        self.kept = b""
        self.setting = settings
        self.start()

    def start(self):
        pass

    async def flush(self):
        if self.kept:
            kept, self.kept = self.kept, b""
            await self.send(kept)

    async def event(self, data: bytes):
        await self.send(data)

    async def end(self):
        await self.flush()


class Count(PassOn):
    """Keeps n events, then writes them at once: a guard or a batcher of tokens."""

    def start(self):
        self.events = 0

    async def event(self, data):
        self.kept += data
        self.events += 1
        if self.events % self.setting["n"] == 0:
            await self.flush()


class Block(PassOn):
    """Writes blocks of n bytes, wherever that cuts an event."""

    async def event(self, data):
        self.kept += data
        n = self.setting["n"]
        while len(self.kept) >= n:
            block, self.kept = self.kept[:n], self.kept[n:]
            await self.send(block)


class Whole(PassOn):
    """Keeps everything, the header too, until the end."""

    holds_header = True

    async def event(self, data):
        self.kept += data


class Tick(PassOn):
    """Writes what there is every so many ms."""

    def start(self):
        self.ticking = asyncio.create_task(self.tick())

    async def tick(self):
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            due += self.setting["ms"] / 1000
            await asyncio.sleep(due - loop.time())
            await self.flush()

    async def event(self, data):
        self.kept += data

    async def end(self):
        self.ticking.cancel()
        await self.flush()


class Stall(PassOn):
    """Passes on, keeps everything for a while once, hands it over at once, and passes on again."""

    def start(self):
        self.events = 0
        self.release = None

    async def event(self, data):
        self.events += 1
        if self.events == self.setting["after"]:
            self.release = asyncio.create_task(self.release_later())
        if self.release and not self.release.done():
            self.kept += data
        else:
            await self.send(data)

    async def release_later(self):
        await asyncio.sleep(self.setting["ms"] / 1000)
        await self.flush()

    async def end(self):
        if self.release:
            await self.release


class Header(PassOn):
    """Keeps the header until the first event is there."""

    holds_header = True


class Tail(PassOn):
    """Keeps the end of the stream back, from the finish reason on."""

    async def event(self, data):
        if self.kept or b'"finish_reason":"stop"' in data:
            self.kept += data
        else:
            await self.send(data)

    async def end(self):
        await asyncio.sleep(self.setting["ms"] / 1000)
        await self.flush()


class Latency(PassOn):
    """Every event comes the same time later: a long way."""

    def start(self):
        self.queue = asyncio.Queue()
        self.sending = asyncio.create_task(self.send_all())

    async def event(self, data):
        loop = asyncio.get_running_loop()
        self.queue.put_nowait((loop.time() + self.setting["ms"] / 1000, data))

    async def send_all(self):
        loop = asyncio.get_running_loop()
        while True:
            due, data = await self.queue.get()
            if data is None:
                return
            await asyncio.sleep(max(0, due - loop.time()))
            await self.send(data)

    async def end(self):
        self.queue.put_nowait((0, None))
        await self.sending


KINDS = {
    "scripted_count": Count,
    "scripted_block": Block,
    "scripted_whole": Whole,
    "scripted_tick": Tick,
    "scripted_quanta": Tick,
    "scripted_stall": Stall,
    "scripted_header": Header,
    "scripted_tail": Tail,
    "scripted_latency": Latency,
}


async def events_of(reader: asyncio.StreamReader):
    """Whole events, taken out of a chunked body."""
    rest = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        rest += (await reader.readexactly(size + 2))[:-2]
        *events, rest = rest.split(b"\n\n")
        for event in events:
            yield event + b"\n\n"


async def relay(kind, upstream_port: int, reader, writer):
    upstream = None
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        fields = dict(line.split(":", 1) for line in head.decode("latin-1").lower().split("\r\n") if ":" in line)
        body = await read_body(reader, fields)
        from_upstream, upstream = await asyncio.open_connection("127.0.0.1", upstream_port, limit=1 << 20)
        request_line = head.split(b"\r\n", 1)[0]
        upstream.write(b"%b\r\nHost: emitter\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b" % (request_line, len(body), body))
        answer_head = await from_upstream.readuntil(b"\r\n\r\n")
        answer_head = answer_head.replace(b"\r\nconnection: close", b"").replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n")
        if not kind.holds_header:
            writer.write(answer_head)
        is_header_sent = not kind.holds_header

        async def send(data: bytes):
            nonlocal is_header_sent
            first = b"" if is_header_sent else answer_head
            is_header_sent = True
            writer.write(b"%b%x\r\n%b\r\n" % (first, len(data), data))
            await writer.drain()

        keeper = kind(send, **json.loads(body)["calibrate"]["hop"])
        async for event in events_of(from_upstream):
            await keeper.event(event)
        await keeper.end()
        writer.write(b"0\r\n\r\n")
        await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()
        if upstream:
            upstream.close()


async def main(ports: dict):
    gc.disable()
    upstream = int(ports["upstream"])
    for name, kind in KINDS.items():
        await asyncio.start_server(lambda r, w, kind=kind: relay(kind, upstream, r, w), "127.0.0.1", int(ports[name]), limit=1 << 20)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(dict(word.split("=") for word in sys.argv[1:])))
