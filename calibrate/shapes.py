"""Shapes of streams: what a model server writes, and when. Everything follows from a seed.

A shape is made for a `Need`: what a hop must be given so that what it does can show (a block of 8 kB cannot show in a
stream of 2 kB). Short streams are made as well, where a hop's mechanism can NOT show: the label table says what is right then.
"""

import random
from dataclasses import dataclass

LONGEST_S = 12.0
MOST_EVENTS = 1500
KINDS = ["even", "jittered", "pause_start", "pause_middle", "multi_token", "speculative", "mixed_sizes"]
# A wait that all agree on as long, and one that nobody calls long: between them is a matter of taste.
LONG_START_S = (2.5, 3.2)
SHORT_START_S = (0.6, 1.5)


@dataclass
class Need:
    least_bytes: int = 0
    least_seconds: float = 0
    least_events: int = 0
    least_rate: float = 0
    most_rate: float = 500


def make(seed: int, kind: str, need: Need, fault: str | None = None) -> dict:
    rng = random.Random(seed)
    if fault == "bulk":
        return bulk(rng)
    rate = pick_rate(rng, kind, need)
    size = pick_size(rng, kind)
    events = pick_events(rng, rate, size, need)
    if kind == "speculative":
        writes = speculative_steps(rng, events, size)
    else:
        writes = [(gap, [size]) for gap in gaps_of(rng, kind, events, rate)]
        if kind == "mixed_sizes":
            writes = [(gap, [mixed_size(rng)]) for gap, _ in writes]
    shape = {"kind": kind, "rate": round(rate, 2), "size": size}
    header = rng.uniform(0.002, 0.2)
    first = rng.uniform(0.02, 0.5)
    if kind == "pause_start":
        shape["pause_start_s"] = first = rng.uniform(*rng.choice([LONG_START_S, SHORT_START_S]))
    if kind == "pause_middle":
        shape["pause_middle_s"] = add_pause(rng, writes)
    if fault == "late_header":
        header, first = rng.uniform(2.6, 4.5), rng.uniform(0.005, 0.05)
    if fault in ("late_first_token", "late_body"):
        first = rng.uniform(2.6, 4.5)
    if fault == "stall":
        shape["pause_middle_s"] = add_pause(rng, writes)
    if fault == "producer_batched":
        writes = [(0.0, [sum(sum(sizes) for _, sizes in writes) % 24_000 + 6_000])]
        first = rng.uniform(1.2, 4)
    finish = rng.uniform(2.2, 4) if fault == "late_tail" else rng.choice([0.0, rng.uniform(0.001, 0.02)])
    with_role = fault != "late_body" and rng.random() < 0.5
    return {**shape, **schedule(rng, header, first, writes, finish, with_role)}


def pick_rate(rng, kind: str, need: Need) -> float:
    lowest, highest = max(5.0, need.least_rate), max(min(500.0, need.most_rate), need.least_rate * 1.2)
    if kind == "multi_token":
        highest = max(lowest * 1.2, 40)  # an engine that hands out several tokens at a time does so less often
    # Most models make 20 to 120 tokens a second: evenly spread over the logarithm.
    return lowest * (highest / lowest) ** rng.random()


def pick_size(rng, kind: str) -> int:
    if kind == "multi_token":
        return int(300 * (4000 / 300) ** rng.random())
    if rng.random() < 0.1:
        return rng.randint(60, 150)
    if rng.random() < 0.15:
        return int(400 * 10 ** rng.random())
    return rng.randint(160, 420)


def pick_events(rng, rate: float, size: int, need: Need) -> int:
    least = max(need.least_events, need.least_bytes // size, int(need.least_seconds * rate))
    if least == 0 and rng.random() < 0.2:
        n = rng.randint(3, 30)
        n = max(n, int(rate * 0.4))  # what lasts less than this shows nothing to anybody
    else:
        n = max(int(rate * rng.uniform(1.5, 8)), 20, int(least * rng.uniform(1, 1.5)))
    return max(3, min(n, MOST_EVENTS, int(rate * LONGEST_S)))


def gaps_of(rng, kind: str, events: int, rate: float) -> list[float]:
    mean = 1 / rate
    if kind in ("even", "multi_token") and rng.random() < 0.7:
        return [mean] * events
    spread = rng.uniform(0.2, 0.6) if kind == "jittered" else rng.uniform(0.02, 0.3)
    shape = 1 / spread**2
    return [rng.gammavariate(shape, mean / shape) for _ in range(events)]


def speculative_steps(rng, events: int, size: int) -> list:
    """A draft is taken over in part: each step writes 1 to 5 events at once."""
    step, writes, made = rng.uniform(0.025, 0.060), [], 0
    taken = rng.uniform(0.4, 0.8)
    while made < events and len(writes) * step < LONGEST_S:
        n = 1
        while n < 5 and rng.random() < taken:
            n += 1
        writes.append((step * rng.gammavariate(100, 0.01), [size] * n))
        made += n
    return writes


def mixed_size(rng) -> int:
    return min(4000, int(rng.choice([170, 170, 200, 300]) * rng.lognormvariate(0.2, 0.6)))


def add_pause(rng, writes: list) -> float:
    """Makes one gap in the middle long, by any measure: the model thinks, or a tool is asked."""
    gaps = sorted(gap for gap, _ in writes)
    p90 = gaps[int(0.9 * (len(gaps) - 1))]
    pause = max(rng.uniform(0.6, 3), 8 * p90)
    at = rng.randint(max(1, len(writes) // 5), max(1, len(writes) * 4 // 5))
    at = min(at, len(writes) - 1)
    writes[at] = (pause, writes[at][1])
    return pause


def bulk(rng) -> dict:
    """Large events, as audio in base64: enough bytes to fill every socket buffer on the way within a second or two."""
    rate, size = rng.uniform(150, 250), rng.randint(14_000, 20_000)
    writes = [(1 / rate, [size])] * int(rate * rng.uniform(4, 5))
    return {"kind": "bulk", "rate": round(rate, 2), "size": size, **schedule(rng, 0.01, 0.05, writes, 0.0, True)}


def schedule(rng, header: float, first: float, writes: list, finish: float, with_role: bool) -> dict:
    """Times in µs after the request was read. A size of 0 is the event that only names the role."""
    at, plan = header + first, []
    if with_role:
        # Some servers send the role with the header, some with the first token.
        role_at = header if rng.random() < 0.5 else at
        plan.append([int(role_at * 1e6), [0]])
    for i, (gap, sizes) in enumerate(writes):
        at += gap if i else 0
        plan.append([int(at * 1e6), sizes])
    tokens = sum(len(sizes) for _, sizes in writes)
    per_event = max(1, sum(sum(sizes) for _, sizes in writes) // max(tokens, 1) // 250)
    end = at + finish
    return {
        "header_us": int(header * 1e6),
        "plan": plan,
        "finish_us": int(end * 1e6),
        "end_us": int(end * 1e6),
        "with_role": with_role,
        "usage": tokens * per_event if rng.random() < 0.5 else None,
        "tokens": tokens,
        "seconds": round(end, 3),
    }


def peak_rate(shape: dict) -> float:
    """Events a second, of the whole stream: what it costs the machine while it runs."""
    return shape["tokens"] / max(shape["seconds"], 0.5)
