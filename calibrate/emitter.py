"""The server of the calibration: it plays the schedule that a request carries, and stamps each write.

One asyncio process that speaks raw HTTP/1.1 (and 1.0, which nginx asks for by default). The stamps are the ground truth:
`time.monotonic_ns()` just before each write, one JSON line for each stream, in the file that is named at the start.

    python -m calibrate.emitter --stamps FILE --port PORT
"""

import argparse
import asyncio
import gc
import json
import random
import time

SERVER_HEAD = (
    "HTTP/1.1 200 OK\r\nserver: uvicorn\r\ncontent-type: {content_type}\r\ncache-control: no-cache\r\n"
    "x-request-id: {id}\r\n{more}\r\n\r\n"
)
CONTENT_TYPES = {"sse": "text/event-stream; charset=utf-8", "ndjson": "application/x-ndjson"}
POOL_WORDS = 200_000  # random words of a small language: they compress as prose does


def word_pool(seed: int) -> str:
    rng = random.Random(seed)
    letters = "eeeettaaooiinnsshhrrddlluccmmfwypvbgk"
    language = ["".join(rng.choices(letters, k=rng.randint(2, 9))) for _ in range(3000)]
    # A few words make most of a text, as in prose.
    common = [1 / (rank + 3) for rank in range(len(language))]
    return " ".join(rng.choices(language, common, k=POOL_WORDS))


class Words:
    """Text of any length, always another part of the pool."""

    def __init__(self, pool: str, seed: int):
        self.pool = pool
        self.at = random.Random(seed).randrange(len(pool))

    def take(self, n: int) -> str:
        if self.at + n > len(self.pool):
            self.at = 0
        text = self.pool[self.at : self.at + n]
        self.at += n
        return text


class Sse:
    """Chat completion chunks, as vLLM and others write them."""

    def __init__(self, stream_id: str, words: Words):
        self.words = words
        self.base = f'"id":"chatcmpl-{stream_id}","object":"chat.completion.chunk","created":1764680000,"model":"calibrate"'
        self.answers = 1
        self.reason = "stop"

    def write(self, channel: str, sizes: list[int]) -> list[bytes]:
        """The events of one write."""
        if channel == "choices":
            self.answers = len(sizes)
            return [self._text("content", size, index) for index, size in enumerate(sizes)]
        if channel == "role":
            return [self._choice('"role":"assistant","content":""', index) for index in range(len(sizes))]
        if channel == "tool":
            return [self._tool(size) for size in sizes]
        if channel == "comment":
            return [b": keep-alive\n\n"]
        return [self._text({"content": "content", "reasoning": "reasoning_content"}[channel], size) for size in sizes]

    def finish(self, usage: int | None) -> list[bytes]:
        events = [self._choice("", index, f'"{self.reason}"') for index in range(self.answers)]
        if usage is not None:
            counts = f'{{"prompt_tokens":12,"completion_tokens":{usage},"total_tokens":{usage + 12}}}'
            events.append(self._event("", f',"usage":{counts}'))
        return [*events, b"data: [DONE]\n\n"]

    def _event(self, choices: str, more: str = "") -> bytes:
        return f'data: {{{self.base},"choices":[{choices}]{more}}}\n\n'.encode()

    def _choice(self, delta: str, index: int = 0, reason: str = "null") -> bytes:
        return self._event(f'{{"index":{index},"delta":{{{delta}}},"finish_reason":{reason}}}')

    def _text(self, name: str, size: int, index: int = 0) -> bytes:
        bare = self._choice(f'"{name}":""', index)
        if size < len(bare) + 2:  # smaller than a whole chunk: a server that leaves the labels away
            number = f'"index":{index},' if index else ""
            lean = f'data: {{"choices":[{{{number}"delta":{{"{name}":"%s"}}}}]}}\n\n'
            return (lean % self.words.take(max(1, size - len(lean) + 2))).encode()
        return self._choice(f'"{name}":"{self.words.take(size - len(bare))}"', index)

    def _tool(self, size: int) -> bytes:
        if self.reason == "stop":  # the first of them names the tool
            self.reason = "tool_calls"
            return self._choice('"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"write","arguments":""}}]')
        piece = '"tool_calls":[{"index":0,"function":{"arguments":"%s"}}]'
        return self._choice(piece % self.words.take(max(1, size - len(self._choice(piece)) + 2)))


class Ndjson:
    """Chat lines as Ollama writes them."""

    MESSAGE = '{"model":"calibrate","created_at":"2026-01-01T00:00:00.000000Z","message":{"role":"assistant",%s},"done":false}\n'
    CHANNELS = {"role": '"content":"%s"', "content": '"content":"%s"', "reasoning": '"content":"","thinking":"%s"'}

    def __init__(self, _stream_id: str, words: Words):
        self.words = words

    def write(self, channel: str, sizes: list[int]) -> list[bytes]:
        line = self.MESSAGE % self.CHANNELS[channel]
        if channel == "role":
            return [(line % "").encode()]
        return [(line % self.words.take(max(1, size - len(line) + 2))).encode() for size in sizes]

    def finish(self, usage: int | None) -> list[bytes]:
        count = f',"eval_count":{usage}' if usage is not None else ""
        line = '{"model":"calibrate","created_at":"2026-01-01T00:00:00.000000Z","message":{"role":"assistant","content":""},'
        return [f'{line}"done_reason":"stop","done":true{count}}}\n'.encode()]


FORMATS = {"sse": Sse, "ndjson": Ndjson}


class Emitter:
    def __init__(self, stamps_file):
        self.pool = word_pool(1)
        self.stamps_file = stamps_file

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        try:
            while await self._one_request(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # a client or hop that went: its stream has no stamps, and is not scored
        finally:
            writer.close()

    async def _one_request(self, reader, writer) -> bool:
        """Answers one request; true when another may come on this connection."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        request_line, *lines = head.split("\r\n")
        fields = dict(line.split(":", 1) for line in lines if ":" in line)
        body = await read_body(reader, fields)
        read_ns = time.monotonic_ns()
        is_old = request_line.endswith("http/1.0")
        keep = not is_old and "close" not in fields.get("connection", "")
        script = json.loads(body)["calibrate"]
        chunked = not is_old and not script["length"]
        await Play(script, self.pool, writer, read_ns, chunked, keep).run(self.stamps_file)
        return keep


async def read_body(reader, fields: dict) -> bytes:
    if "chunked" not in fields.get("transfer-encoding", ""):
        return await reader.readexactly(int(fields.get("content-length", 0)))
    body = b""
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readuntil(b"\r\n")
    return body


class Play:
    """One answer, played by its script."""

    def __init__(self, script: dict, pool: str, writer, read_ns: int, chunked: bool, keep: bool):
        self.script = script
        self.writer = writer
        self.read_ns = read_ns
        self.chunked = chunked
        self.keep = keep
        self.format = FORMATS[script["format"]](script["id"], Words(pool, script["seed"]))
        self.writes = []  # [stamp, events, planned]

    async def run(self, stamps_file):
        script = self.script
        await self._until(script["header_us"])
        header_ns = time.monotonic_ns()
        # Each is made before it is due, so that only the write itself comes after the stamp.
        made = self._made()
        length = None
        if script["length"]:
            made = list(made)
            length = sum(len(event) for _, events in made for event in events)
        self.writer.write(self._head(length))
        for at_us, events in made:
            await self._send(at_us, events)
        await self._until(script["end_us"])
        end_ns = time.monotonic_ns()
        if self.chunked:
            self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()
        line = {"id": script["id"], "read_ns": self.read_ns, "header_ns": header_ns, "writes": self.writes, "end_ns": end_ns}
        stamps_file.write(json.dumps(line) + "\n")
        stamps_file.flush()

    def _made(self):
        for at_us, channel, sizes in self.script["plan"]:
            yield at_us, self.format.write(channel, sizes)
        yield self.script["finish_us"], self.format.finish(self.script["usage"])

    def _head(self, length: int | None) -> bytes:
        more = [self.script["head"]] if self.script["head"] else []
        if length is not None:
            more.append(f"content-length: {length}")
        elif self.chunked:
            more.append("transfer-encoding: chunked")
        if not self.keep or not self.chunked and length is None:
            more.append("connection: close")
        content_type = CONTENT_TYPES[self.script["format"]]
        return SERVER_HEAD.format(content_type=content_type, id=self.script["id"], more="\r\n".join(more)).encode()

    async def _until(self, at_us: int):
        wait = self.read_ns / 1e9 + at_us / 1e6 - time.monotonic()
        if wait > 0:
            await asyncio.sleep(wait)

    async def _send(self, at_us: int, events: list[bytes]):
        data = b"".join(events)
        if self.chunked:
            data = b"%x\r\n%b\r\n" % (len(data), data)
        await self._until(at_us)
        counted = sum(not event.startswith(b":") for event in events)  # a comment is no event
        self.writes.append([time.monotonic_ns(), counted, self.read_ns + at_us * 1000])
        self.writer.write(data)
        await self.writer.drain()  # as a real server: it waits when the other side does not read


async def main(stamps: str, port: int):
    with open(stamps, "w") as stamps_file:
        server = await asyncio.start_server(Emitter(stamps_file).serve, "127.0.0.1", port, limit=1 << 20)
        async with server:
            gc.disable()  # a collection would be a pause that nobody planned
            await server.serve_forever()


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--stamps", required=True)
    arguments.add_argument("--port", type=int, required=True)
    chosen = arguments.parse_args()
    asyncio.run(main(chosen.stamps, chosen.port))
