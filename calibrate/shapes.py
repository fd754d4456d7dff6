"""Shapes of streams: what a model server writes, and when. Everything follows from a seed.

A shape is made for a `Need`: what a hop must be given so that what it does can show (a block of 8 kB cannot show in a
stream of 2 kB). Short streams are made as well, where a hop's mechanism can NOT show: the label table says what is right then.
Each kind is one small function in `KINDS`; its first line is the reason for it, and stands on the page.
"""

import random
from dataclasses import dataclass, field

LONGEST_S = 12.0
MOST_EVENTS = 1500
# A wait that all agree on as long, and one that nobody calls long: between them is a matter of taste.
LONG_START_S = (2.5, 3.2)
SHORT_START_S = (0.6, 1.5)
# Steps of an engine with drafts: a small model on a GPU, a large one on a CPU.
DRAFT_STEP_S = (0.015, 0.400)
MOST_OF_DRAFT = 5


@dataclass
class Need:
    least_bytes: int = 0
    least_seconds: float = 0
    least_events: int = 0
    least_rate: float = 0


@dataclass
class Write:
    gap: float  # s since the write before; the first has `Tokens.first` instead
    sizes: list[int]  # of its events
    channel: str = "content"  # or "reasoning", "tool", "choices" (each event another choice's), "comment"


@dataclass
class Tokens:
    """What comes between role and finish."""

    rate: float
    size: int
    writes: list[Write]
    first: float | None = None  # s from the header to the first write, where the kind says it
    notes: dict = field(default_factory=dict)


def make(seed: int, kind: str, need: Need, fault: str | None = None) -> dict:
    rng = random.Random(seed)
    tokens = KINDS[kind](rng, need)
    header, first = rng.uniform(0.002, 0.2), tokens.first or rng.uniform(0.02, 0.5)
    if fault == "late_header":
        header, first = rng.uniform(2.6, 4.5), rng.uniform(0.005, 0.05)
    if fault in ("late_first_token", "late_body"):
        first = rng.uniform(2.6, 4.5)
    if fault == "stall":
        add_pause(rng, tokens)
    if fault == "producer_batched":
        tokens.writes = [Write(0.0, [sum(sum(write.sizes) for write in tokens.writes) % 24_000 + 6_000])]
        first = rng.uniform(1.2, 4)
    finish = rng.uniform(2.2, 4) if fault == "late_tail" else rng.choice([0.0, rng.uniform(0.001, 0.02)])
    with_role = fault != "late_body" and rng.random() < 0.5
    shape = {"kind": kind, "rate": round(tokens.rate, 2), "size": tokens.size, **tokens.notes}
    return shape | schedule(rng, header, first, tokens.writes, finish, with_role)


# --- kinds -----------------------------------------------------------------------------------------------


def even(rng, need) -> Tokens:
    """One event a token at an even pace: what most servers write most of the time."""
    return one_by_one(rng, need, nearly_even(rng))


def jittered(rng, need) -> Tokens:
    """Uneven steps: a busy server, other requests in the batch."""
    return one_by_one(rng, need, rng.uniform(0.2, 0.6))


def pause_start(rng, need) -> Tokens:
    """The model thinks before it says anything."""
    tokens = one_by_one(rng, need, slightly_uneven(rng))
    tokens.first = rng.uniform(*rng.choice([LONG_START_S, SHORT_START_S]))
    tokens.notes["pause_start_s"] = tokens.first
    return tokens


def pause_middle(rng, need) -> Tokens:
    """The model thinks, or a tool is asked, in the middle."""
    return add_pause(rng, one_by_one(rng, need, slightly_uneven(rng)))


def keepalive(rng, need) -> Tokens:
    """A pause at the start or in the middle that the server fills with comments, so that no limit of idle time cuts it."""
    tokens, n = one_by_one(rng, need, slightly_uneven(rng)), rng.randint(2, 6)
    if rng.random() < 0.5:
        at, pause = 0, rng.uniform(*rng.choice([LONG_START_S, SHORT_START_S]))
        tokens.first, tokens.notes["pause_start_s"] = pause / (n + 1), pause
    else:
        add_pause(rng, tokens)
        at = max(range(1, len(tokens.writes)), key=lambda i: tokens.writes[i].gap)
        pause = tokens.writes[at].gap
    part = pause / (n + 1)
    tokens.writes[at].gap = part
    tokens.writes[at:at] = [Write(part, [0], "comment") for _ in range(n)]
    return tokens


def multi_token(rng, need) -> Tokens:
    """Several tokens in each event: an engine that hands them out by the interval."""
    size = int(300 * (4000 / 300) ** rng.random())
    return one_by_one(rng, need, nearly_even(rng), size, most_rate=40)  # it does so less often


def speculative(rng, need) -> Tokens:
    """Drafts (speculative decoding): each step writes the 1 to 5 events that were accepted, at once."""
    taken, jitter, size = rng.uniform(0.4, 0.8), rng.uniform(0.01, 0.10), pick_size(rng)
    per_step = (1 - taken**MOST_OF_DRAFT) / (1 - taken)
    shortest, longest = DRAFT_STEP_S
    if need.least_rate:
        longest = max(shortest, min(longest, per_step / need.least_rate))
    step = shortest * (longest / shortest) ** rng.random()
    rate, writes, made = per_step / step, [], 0
    events = pick_events(rng, rate, size, need)
    while made < events:
        n = 1
        while n < MOST_OF_DRAFT and rng.random() < taken:
            n += 1
        writes.append(Write(varied(rng, step, jitter), [size] * n))
        made += n
    return Tokens(rate, size, writes, notes={"step_ms": round(step * 1e3, 1)})


def mixed_sizes(rng, need) -> Tokens:
    """Events of many sizes: words of many lengths, several tokens now and then."""
    tokens = one_by_one(rng, need, slightly_uneven(rng))
    for write in tokens.writes:
        write.sizes = [min(4000, int(rng.choice([170, 170, 200, 300]) * rng.lognormvariate(0.2, 0.6)))]
    return tokens


def choices(rng, need) -> Tokens:
    """Two answers at once (n=2): each step writes an event of either."""
    tokens = one_by_one(rng, need, nearly_even(rng))
    # As many events a second, so half as many steps.
    tokens.writes = [Write(2 * write.gap, write.sizes * 2, "choices") for write in tokens.writes[::2]]
    return tokens


def reasoning(rng, need) -> Tokens:
    """The reasoning first, on a channel of its own, and a few steps later the answer."""
    tokens = one_by_one(rng, need, nearly_even(rng))
    turn = max(1, int(len(tokens.writes) * rng.uniform(0.3, 0.8)))
    for write in tokens.writes[:turn]:
        write.channel = "reasoning"
    if turn < len(tokens.writes):
        tokens.writes[turn].gap *= rng.randint(1, 3)  # the marks between the two are tokens that nobody is sent
    return tokens


def tool_calls(rng, need) -> Tokens:
    """The arguments of a tool call, in many small pieces."""
    tokens = one_by_one(rng, need, nearly_even(rng), size=rng.randint(205, 235))
    for write in tokens.writes:
        write.sizes, write.channel = [tokens.size + rng.randint(-6, 6)], "tool"
    return tokens


def fast(rng, _need) -> Tokens:
    """A fast engine (a small model, special hardware): about a thousand events a second, not for long."""
    rate, size = 800 * (1500 / 800) ** rng.random(), rng.randint(160, 300)
    spread = nearly_even(rng)
    return Tokens(rate, size, [Write(varied(rng, 1 / rate, spread), [size]) for _ in range(rng.randint(500, 1000))])


def bulk(rng, _need) -> Tokens:
    """Large events, as audio in base64: enough bytes to fill every socket buffer on the way within a second or two."""
    rate, size = rng.uniform(150, 250), rng.randint(14_000, 20_000)
    return Tokens(rate, size, [Write(1 / rate, [size]) for _ in range(int(rate * rng.uniform(4, 5)))], first=0.05)


KINDS = {
    kind.__name__: kind
    for kind in (
        even,
        jittered,
        pause_start,
        pause_middle,
        keepalive,
        multi_token,
        speculative,
        mixed_sizes,
        choices,
        reasoning,
        tool_calls,
        fast,
        bulk,
    )
}


# --- their parts -----------------------------------------------------------------------------------------


def one_by_one(rng, need: Need, spread: float, size: int | None = None, most_rate: float = 500) -> Tokens:
    size = size or pick_size(rng)
    lowest = max(5.0, need.least_rate)
    highest = max(most_rate, lowest * 1.2)
    # Most models make 20 to 120 tokens a second: evenly spread over the logarithm.
    rate = lowest * (highest / lowest) ** rng.random()
    events = pick_events(rng, rate, size, need)
    return Tokens(rate, size, [Write(varied(rng, 1 / rate, spread), [size]) for _ in range(events)])


def nearly_even(rng) -> float:
    return 0.0 if rng.random() < 0.7 else slightly_uneven(rng)


def slightly_uneven(rng) -> float:
    return rng.uniform(0.02, 0.3)


def varied(rng, mean: float, spread: float) -> float:
    """`spread` is the coefficient of variation."""
    return rng.gammavariate(1 / spread**2, mean * spread**2) if spread else mean


def pick_size(rng) -> int:
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
        n = max(int(rate * rng.uniform(1.5, 6.5)), 20, int(least * rng.uniform(1, 1.5)))
    return max(3, min(n, MOST_EVENTS, int(rate * LONGEST_S)))


def add_pause(rng, tokens: Tokens) -> Tokens:
    """Makes one gap in the middle long, by any measure."""
    writes = tokens.writes
    gaps = sorted(write.gap for write in writes)
    p90 = gaps[int(0.9 * (len(gaps) - 1))]
    at = rng.randint(max(1, len(writes) // 5), max(1, len(writes) * 4 // 5))
    at = min(at, len(writes) - 1)
    writes[at].gap = max(rng.uniform(0.6, 3), 8 * p90)
    tokens.notes["pause_middle_s"] = writes[at].gap
    return tokens


def schedule(rng, header: float, first: float, writes: list[Write], finish: float, with_role: bool) -> dict:
    """Times in µs after the request was read."""
    at, plan = header + first, []
    answers = max(len(write.sizes) for write in writes) if writes[0].channel == "choices" else 1
    if with_role:
        # Some servers send the role with the header, some with the first token.
        role_at = header if rng.random() < 0.5 else at
        plan.append([int(role_at * 1e6), "role", [0] * answers])
    for i, write in enumerate(writes):
        at += write.gap if i else 0
        plan.append([int(at * 1e6), write.channel, write.sizes])
    sizes = [size for write in writes if write.channel != "comment" for size in write.sizes]
    per_event = max(1, sum(sizes) // len(sizes) // 250)
    end = at + finish
    return {
        "header_us": int(header * 1e6),
        "plan": plan,
        "finish_us": int(end * 1e6),
        "end_us": int(end * 1e6),
        "with_role": with_role,
        "usage": len(sizes) * per_event if rng.random() < 0.5 else None,
        "tokens": len(sizes),
        "seconds": round(end, 3),
    }


def peak_rate(shape: dict) -> float:
    """Events a second, of the whole stream: what it costs the machine while it runs."""
    return shape["tokens"] / max(shape["seconds"], 0.5)
