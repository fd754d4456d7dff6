"""Which streams a run sends: each is a hop, a shape, and perhaps a fault of the server's own. All from the seed."""

import random
from dataclasses import dataclass

from calibrate import shapes

SERVER_FAULTS = ["late_header", "late_first_token", "late_tail", "stall", "producer_batched"]
PART_WITH_FAULT = 0.35  # of the streams through hops that are marked `faults`
PART_SHORT = 0.2  # of the streams through hops that need much: here the mechanism cannot show
# Of what a chat API can do and NDJSON cannot.
OF_SSE = {"keepalive", "choices", "tool_calls"}
OF_CLIENT = {"bulk"}  # only where the client does not read
HEALTHY_KINDS = [kind for kind in shapes.KINDS if kind not in OF_CLIENT]
# A hop that holds makes a lump of any pause; what is right then is a matter of taste, so those get none in the middle.
# Nor the fastest: what a hop lets go of at once is then less than what the machine's own unrest moves.
HELD_KINDS = [kind for kind in HEALTHY_KINDS if kind not in ("pause_middle", "keepalive", "fast")]
KINDS = {"none": HEALTHY_KINDS, "latency": [kind for kind in HEALTHY_KINDS if kind != "fast"], "client": list(OF_CLIENT)}
STALLED_KINDS = ["even", "jittered", "mixed_sizes", "speculative"]


@dataclass
class Stream:
    id: str
    seed: int
    hop: dict
    fault: str | None
    settings: dict
    shape: dict
    client: dict  # {} or {"stop_at_s", "stop_for_s", "receive_buffer"}

    @property
    def half(self) -> str:
        return "tuning" if self.seed % 2 == 0 else "held_out"

    def request(self) -> dict:
        script = {
            "id": self.id,
            "seed": self.seed,
            "format": self.hop.get("format", "sse"),
            "head": self.hop.get("server_head"),
            "length": self.hop.get("length_known", False),
            "hop": self.settings,
            **{name: self.shape[name] for name in ("header_us", "plan", "finish_us", "end_us", "usage")},
        }
        return {
            "model": "calibrate",
            "stream": True,
            "messages": [{"role": "user", "content": "play the schedule"}],
            "stream_options": {"include_usage": True},
            "calibrate": script,
        }

    @property
    def path(self) -> str:
        return "/api/chat" if self.hop.get("format") == "ndjson" else "/v1/chat/completions"


def make_all(hops: list[dict], n: int, seed: int) -> list[Stream]:
    """`n` streams, each hop as often as its weight says, in an order that mixes them."""
    rng = random.Random(seed)
    turns = [hop for hop in hops for _ in range(hop["weight"])]
    order = []
    while len(order) < n:
        order += rng.sample(turns, len(turns))
    return [make(order[i], seed * 1_000_000 + i) for i in range(n)]


def make(hop: dict, seed: int) -> Stream:
    rng = random.Random(f"{hop['name']} {seed}")
    settings = {name: rng.choice(values) for name, values in hop.get("settings", {}).items()}
    mechanism = hop["mechanism"]
    fault = rng.choice(SERVER_FAULTS) if hop.get("faults") and rng.random() < PART_WITH_FAULT else None
    wanted = {} if rng.random() < PART_SHORT else hop.get("needs", {})
    shape_fault = "late_body" if mechanism == "header" else fault
    shape = shapes.make(seed, pick_kind(rng, hop, fault), need_of(wanted, settings), shape_fault)
    if mechanism == "stall":
        writes = len(shape["plan"])
        settings["after"] = rng.randint(max(2, writes // 6), max(3, writes // 2))
    client = {}
    if mechanism == "client":
        stop = rng.uniform(2, 3)
        client = {"stop_at_s": round(rng.uniform(0.3, 0.8), 3), "stop_for_s": round(stop, 3), "receive_buffer": 8192}
    return Stream(f"c{seed}", seed, hop, fault, settings, shape, client)


def pick_kind(rng, hop: dict, fault: str | None) -> str:
    if fault or hop["mechanism"] in ("stall", "tail", "header"):
        return rng.choice(STALLED_KINDS)
    kinds = KINDS.get(hop["mechanism"], HELD_KINDS)
    return rng.choice([kind for kind in kinds if kind not in OF_SSE or hop.get("format", "sse") == "sse"])


def need_of(needs: dict, settings: dict) -> shapes.Need:
    """What `needs` of a hop's row comes to with these settings."""
    need = shapes.Need()
    if "seconds" in needs:
        need.least_seconds = needs["seconds"]
    if "rate" in needs:
        need.least_rate = needs["rate"]
    if "bytes" in needs:
        need.least_bytes = needs["bytes"]
        need.least_rate = max(20, needs["bytes"] / 4000)
    if "blocks" in needs:
        need.least_bytes = needs["blocks"] * settings["n"]
        need.least_rate = min(60, max(8, settings["n"] / 200))
    if "counts" in needs:
        need.least_events = needs["counts"] * settings["n"]
        need.least_rate = max(8, need.least_events / 10)
    if "ticks" in needs:
        tick_s = settings["ms"] / 1000
        need.least_seconds = needs["ticks"] * tick_s
        need.least_rate = min(150, 2.5 / tick_s)
    return need
