"""A day and a half of a fleet's traffic, made of real records: other names, times, ends and verdicts; the same for the same seed.

What is varied stays a record that dripline could have written: durations have whole µs, and what was not measured is `null`.
What only several records show is found by the proxy while it runs, and by the report again, which SQL is not. So the log has such
findings written in, and nothing from which more would follow: no silence before a cut, no late token of a cold start.
"""

import json
import random
from datetime import datetime, timedelta, timezone

FIRST = datetime(2026, 10, 24, 14, 30, tzinfo=timezone.utc)  # a change of the clock in Berlin is in it
LASTS = timedelta(hours=37)
TIMELINES = 0.003  # such a record is long

# Names that clients may send: formulas, quotes, SQL, what steers a terminal, other scripts, and what means "none" elsewhere.
HOSTILE = [
    '=HYPERLINK("http://x","a, b")', "'; DROP TABLE dripline.records; --", "back\\slash\\", "two\nlines\tand a tab", "\x1b[2Jesc", "nul\x00nul",
    "مرحبا \u202e", "模型 🦙", "(none)", "null", "NULL", "\\N", "", " ", "{brace}", "%percent%_", "`tick`", '"', "a" * 300, "\u2028", "0", "true",
]  # fmt: skip
MODELS = ["llama-3.1-70b", "llama-3.1-8b", "qwen3-32b", "mixtral", "gpt-oss-120b", None]
LABELS = [None, "canary", "client flush off", "", "(none)"]
INSTANCES = ["edge-1", "edge-2", "pod-7f9c"]
UPSTREAMS = ["10.0.0.1:8000", "10.0.0.2:8000", "api.example:443", None]
TIMINGS = ["irregular", "block_burst", "count_burst", "transport_coalesced", "stall_with_catch_up", "producer_batched", "late_header",
           "late_tail", "downstream_backpressure", "unmeasurable"]  # fmt: skip
FAILURES = ["refused", "upstream_timeout", "upstream_invalid", "upstream_reset", "http_error", "empty_stream", "ended_without_done",
            "proxy_stopped", "upgraded", "not_a_stream", "truncated", "client_gone"]  # fmt: skip
CUT = ["truncated", "upstream_reset", "client_gone"]
# Limits on the way: kind, length in ms, side. Far more apart than the 50 ms within which two are one.
LIMITS = [("idle", 60_000.0, "upstream"), ("total", 300_000.0, "upstream"), ("idle", 15_000.0, "downstream"), ("total", 42_000.0, "unknown")]


# Findings over several records: code, and what comes before a number in its sentence.
ACROSS = [("cold_start", "First request to this upstream"), ("constant_latency", "A constant is in every wait"), ("constant_cut", "The cuts agree")]


def log_lines(seeds: list[dict], n: int, seed: int = 6) -> list[str]:
    """`n` records as lines, in the order in which they ended."""
    dice = random.Random(seed)
    with_timeline = [record for record in seeds if record["timeline"]]
    without = [record for record in seeds if not record["timeline"]]
    ended = []
    for number in range(n):
        of = with_timeline if dice.random() < TIMELINES else without
        start = FIRST + LASTS * dice.random()
        record = varied(dice.choice(of), dice, number, start)
        end = start + timedelta(milliseconds=record["at"]["end_ms"] or 0)
        ended.append((end, number, json.dumps(record, ensure_ascii=dice.random() < 0.5, separators=(",", ":"))))
    ended.sort()
    return [line for _, _, line in ended]


def varied(seed: dict, dice: random.Random, number: int, start: datetime) -> dict:
    """Another record like `seed`."""
    slower = dice.lognormvariate(0, 0.7)
    cold = dice.random() < 0.1 and (seed["ttft_ms"] or 0) * slower < 300
    # an id without the time in it, so that no query gets its order from there
    record = {**seed, "id": f"{dice.getrandbits(64):016X}{number:010d}", "started_at": start.isoformat().replace("+00:00", "Z")}
    record["label"] = dice.choice(HOSTILE) if dice.random() < 0.01 else dice.choice(LABELS)
    record["instance"] = dice.choice(INSTANCES)
    record["request"] = {**seed["request"], "model": model(dice), "bytes": dice.randrange(60, 90_000)}
    record["upstream"] = {**seed["upstream"], "name": dice.choice(UPSTREAMS)}
    record["load"] = {"in_flight": int(dice.expovariate(0.2)), "cold": cold, "idle_before_ms": None}
    record["at"] = {mark: scaled(ms, slower) for mark, ms in seed["at"].items()}
    for figure in ("ttft_ms", "ttft_after_request_ms", "ttfa_ms", "tail_ms"):
        record[figure] = scaled(seed[figure], slower)
    if not seed["timeline"]:
        record["gaps"] = {series: gaps(stats, slower) for series, stats in seed["gaps"].items()}
        record["stalls"] = [{**stall, "gap_ms": scaled(stall["gap_ms"], slower)} for stall in seed["stalls"]]
    record["tokens"] = tokens(seed, dice)
    happened(record, dice)
    return record


def model(dice: random.Random):
    return dice.choice(HOSTILE) if dice.random() < 0.02 else dice.choice(MODELS)


def scaled(ms, by: float):
    return None if ms is None else round(ms * by, 3)


def gaps(stats: dict, slower: float) -> dict:
    return {name: scaled(value, slower) if name.endswith("_ms") else value for name, value in stats.items()}


def tokens(seed: dict, dice: random.Random) -> dict:
    """The server's counts, some of 0 and 1, where no time per token can be told; some servers count nothing."""
    count = dice.choice([None, 0, 1, 2, dice.randrange(3, 4000), dice.randrange(3, 4000)])
    return {**seed["tokens"], "prompt": dice.choice([None, dice.randrange(1, 100_000)]), "completion": count}


def happened(record: dict, dice: random.Random):
    """Some came otherwise, some failed, some were cut."""
    if record["verdict"] and dice.random() < 0.3:
        side = dice.choice(["upstream", "proxy", "downstream", "unknown"])
        record["verdict"] = {**record["verdict"], "timing": dice.choice(TIMINGS), "where": side, "confidence": dice.randrange(101) / 100}
    if record["end"] == "complete" and dice.random() < 0.02:  # whole, but no token in it
        record["ttft_ms"], record["ttft_null"] = None, "no_token"
    if record["end"] == "complete" and dice.random() < 0.03:  # one event with everything, so no gap
        none = {name: 0 if name == "n" else None for name in record["gaps"]["token"]}
        record["gaps"] = {**record["gaps"], "token": {**none, "exact": True}}
    if dice.random() < 0.08:
        failed(record, dice)
    if record["end"] in CUT:
        record["silence"] = {**record["silence"], "before_end_ms": None}
    if record["verdict"] and dice.random() < 0.01:
        code, sentence = dice.choice(ACROSS)
        told = {"code": code, "where": "upstream", "at_ms": None, "sentence": f"{sentence}: {dice.randrange(100)} ms.", "hint": ""}
        record["verdict"] = {**record["verdict"], "findings": [*record["verdict"]["findings"], told]}


def failed(record: dict, dice: random.Random):
    record["end"] = dice.choice(FAILURES)
    if dice.random() < 0.2:
        record["at"] = {**record["at"], "end_ms": None}
    if dice.random() < 0.5:
        record["error"] = {"kind": "http_error", "type": dice.choice([None, "rate_limit_exceeded", "=1+1", 'say "no"'])}
        record["response"] = {**record["response"], "status": dice.choice([None, 200, 429, 503])}
    if record["verdict"] and dice.random() < 0.5:
        kind, after_ms, side = dice.choice(LIMITS)
        cut = {"kind": kind, "after_ms": round(after_ms + dice.uniform(-12, 12), 3), "side": side}
        record["verdict"] = {**record["verdict"], "cut": cut}
