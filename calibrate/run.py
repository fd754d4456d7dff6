"""One run: starts the rig, sends the streams, joins what emitter, dripline and client saw, and writes the corpus."""

import asyncio
import base64
import gc
import json
import sys
import tempfile
import time
from pathlib import Path

from calibrate import client, labels, shapes
from calibrate.programs import HERE, Rig, hop_table
from calibrate.streams import Stream, make_all

OUT = HERE / "out"
CORPUS = OUT / "corpus.jsonl"
STREAM_WITHIN_S = 60


class Budget:
    """Lets a stream begin while few enough run and they make few enough events a second together."""

    def __init__(self, streams: int, events_per_s: float):
        self.streams = streams
        self.events_per_s = events_per_s
        self.changed = asyncio.Condition()

    async def take(self, rate: float):
        async with self.changed:
            await self.changed.wait_for(lambda: self.streams > 0 and self.events_per_s >= 0)
            self.streams -= 1
            self.events_per_s -= rate

    async def give(self, rate: float):
        async with self.changed:
            self.streams += 1
            self.events_per_s += rate
            self.changed.notify_all()


async def send_all(rig: Rig, streams: list[Stream], concurrency: int, events_per_s: float) -> dict:
    budget = Budget(concurrency, events_per_s)
    replies, failed = {}, {}
    began = time.monotonic()

    async def one(stream: Stream, rate: float):
        body = json.dumps(stream.request(), separators=(",", ":")).encode()
        asked = client.ask(
            rig.port(stream.hop["name"]), stream.path, body, stream.id, stream.hop.get("accept_encoding"), stream.client
        )
        try:
            reply = await asyncio.wait_for(asked, STREAM_WITHIN_S)
            if reply.status != 200 or not reply.whole:
                raise ValueError(f"status {reply.status}, whole: {reply.whole}")
            packed = await asyncio.to_thread(client.packed, reply.body)
            reply.body = packed
            replies[stream.id] = reply
        except (OSError, ValueError, IndexError, TimeoutError) as error:
            failed[stream.id] = f"{stream.hop['name']}: {type(error).__name__} {error}"
        await budget.give(rate)

    async with asyncio.TaskGroup() as group:
        for i, stream in enumerate(streams):
            rate = shapes.peak_rate(stream.shape)
            await budget.take(rate)
            group.create_task(one(stream, rate))
            if i % 20 == 0 or i + 1 == len(streams):
                print(f"\r{i + 1}/{len(streams)} streams begun, {time.monotonic() - began:.0f} s", end="", file=sys.stderr, flush=True)
    print(f"\r{len(replies)} streams, {len(failed)} failed, {time.monotonic() - began:.0f} s" + " " * 20, file=sys.stderr)
    for stream_id, why in list(failed.items())[:10]:
        print(f"  {stream_id} {why}", file=sys.stderr)
    return replies


def by_key(path: Path, key) -> dict:
    lines = path.read_text().splitlines() if path.exists() else []
    return {key(row): row for row in map(json.loads, lines)}


def join(rig: Rig, streams: list[Stream], replies: dict):
    """A row for each stream that has all its parts."""
    stamps = by_key(rig.stamps, lambda row: row["id"])
    records = {}
    for hop in {stream.hop["name"] for stream in streams}:
        records |= by_key(rig.log(hop), lambda row: row["request"]["request_id"])
    missing = 0
    for stream in streams:
        reply, record, stamp = replies.get(stream.id), records.get(stream.id), stamps.get(stream.id)
        if reply is None or record is None or stamp is None:
            missing += 1
            continue
        shape = {name: value for name, value in stream.shape.items() if name != "plan"}
        row = {
            "id": stream.id,
            "hop": stream.hop["name"],
            "shape": shape,
            "fault": stream.fault,
            "settings": stream.settings,
            "client": stream.client,
            "seed": stream.seed,
            "half": stream.half,
            "stamps": from_sending(stamp, reply.sent_ns),
            "record": record,
            "head": {"status": reply.status, "headers": reply.headers},
            "body_zlib_b64": base64.b64encode(reply.body).decode(),
        }
        yield labels.with_label(row)
    if missing:
        print(f"{missing} streams lack the reply, the record or the stamps", file=sys.stderr)


def from_sending(stamp: dict, sent_ns: int) -> dict:
    """The emitter's stamps in µs from the moment at which the client sent its request."""

    def at_us(ns: int) -> int:
        return (ns - sent_ns) // 1000

    return {
        "read_us": at_us(stamp["read_ns"]),
        "header_us": at_us(stamp["header_ns"]),
        "writes": [[at_us(ns), events, at_us(planned)] for ns, events, planned in stamp["writes"]],
        "end_us": at_us(stamp["end_ns"]),
    }


def choose_hops(names: list[str] | None) -> list[dict]:
    hops = hop_table()["hop"]
    if names is None:
        return hops
    unknown = set(names) - {hop["name"] for hop in hops}
    if unknown:
        raise SystemExit(f"no such hop: {', '.join(sorted(unknown))}")
    return [hop for hop in hops if hop["name"] in names]


def run(streams: list[Stream], concurrency: int, events_per_s: float):
    """Sends the streams and yields the rows."""
    hops = list({stream.hop["name"]: stream.hop for stream in streams}.values())
    with tempfile.TemporaryDirectory(prefix="calibrate-") as folder:
        rig = Rig(hops, Path(folder))
        try:
            gc.disable()
            replies = asyncio.run(send_all(rig, streams, concurrency, events_per_s))
        finally:
            gc.enable()
            rig.stop()
        yield from join(rig, streams, replies)


def run_to_corpus(n: int, seed: int, concurrency: int, events_per_s: float, names: list[str] | None, corpus: Path):
    streams = make_all(choose_hops(names), n, seed)
    corpus.parent.mkdir(parents=True, exist_ok=True)
    late = []
    with open(corpus, "w") as out:
        for row in run(streams, concurrency, events_per_s):
            late.append(row["truth"]["lateness_p99_ms"])
            out.write(json.dumps(row, separators=(",", ":")) + "\n")
    late.sort()
    if late:
        print(f"{len(late)} rows in {corpus}; the emitter was late by {late[len(late) // 2]:.1f} ms at the median of the streams' p99, "
              f"{late[int(len(late) * 0.99)]:.1f} ms at its p99", file=sys.stderr)
