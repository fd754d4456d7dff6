"""Compares what dripline said with what is right, and writes docs/calibration.md.

The page has the figures of the held-out half and the bounds they must keep. What is printed, and `wrong.jsonl`, are of the
tuning half: whoever works on the rules sees no held-out stream.
"""

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

from calibrate import labels, shapes
from calibrate.programs import ROOT, hop_table
from calibrate.cures import TRIED

DOC = ROOT / "docs" / "calibration.md"
BINS = [(0, 0.45), (0.45, 0.55), (0.55, 0.65), (0.65, 0.85), (0.85, 0.93), (0.93, 1.01)]
# Verdicts that say: bytes were kept somewhere on the way and then came together.
HELD = {"whole_body_burst", "block_burst", "tick_burst", "count_burst", "transport_coalesced", "stall_with_catch_up"}
HEALTHY = {"steady", "irregular"}
# What the held-out half must reach.
LEAST_WITH_FAULT, LEAST_HEALTHY = 400, 600
LEAST_HELD_SEEN, MOST_FALSE_ALARMS = 0.97, 0
LEAST_TIMING, LEAST_WHERE = 0.93, 0.97
# What each kind of hop is called by one who knows it.
NAMED = {"block": "block_burst", "compressor": "block_burst", "tick": "tick_burst", "count": "count_burst"}


class Judged:
    """One stream: what was right, and what was said."""

    def __init__(self, row: dict):
        verdict = row["record"]["verdict"] or {"timing": "none", "where": None, "confidence": 0}
        expected = row["expected"]
        self.id, self.hop, self.seed, self.half = row["id"], row["hop"], row["seed"], row["half"]
        self.shape, self.fault, self.settings = row["shape"]["kind"], row["fault"], row["settings"]
        self.state = row["truth"]["state"]
        self.allowed, self.where, self.scored = expected["timing"], expected["where"], expected["scored"]
        self.as_drafts = expected["as_drafts"]
        self.reason, self.why_many = expected["reason"], expected["why_many"]
        self.said, self.said_where, self.confidence = verdict["timing"], verdict["where"], verdict["confidence"]
        self.is_right = self.said in self.allowed
        named = NAMED.get(labels.hops()[self.hop]["mechanism"])
        # Of several that fit, the confidence says how likely it is this one that was there.
        self.names_it = self.is_right and (named is None or self.said == named or self.said not in NAMED.values())
        # Where several are right, the one that was said stands for what was expected.
        self.expected = self.said if self.is_right else (self.allowed[0] if self.allowed else "-")
        self.is_held = bool(self.allowed) and self.allowed[0] in HELD
        self.is_healthy = bool(self.allowed) and self.allowed[0] in HEALTHY
        # `irregular` has a side, where `steady` has none.
        self.where_is_right = self.said_where == self.where or self.is_healthy and self.said == "irregular" and self.is_right

    @property
    def is_false_alarm(self) -> bool:
        """A healthy stream of which a fault was said, or one that nobody held of which it was said that it was held."""
        if self.is_healthy:
            return self.said not in HEALTHY
        return not self.is_held and self.expected != "downstream_backpressure" and self.said in HELD


def read(corpus: Path) -> list[Judged]:
    """The corpus with its labels made anew, so that a changed table or bound needs no new run."""
    with open(corpus) as file:
        return [Judged(labels.with_label(json.loads(line))) for line in file]


def share(part: int, of: int) -> str:
    return f"{part / of:.3f} ({part}/{of})" if of else "–"


class Figures:
    """The counts of some streams that the summary shows and the bounds ask."""

    def __init__(self, judged: list[Judged]):
        self.unscored = [j for j in judged if not j.scored]
        self.scored = [j for j in judged if j.scored]
        self.held = [j for j in self.scored if j.is_held]
        self.not_held = [j for j in self.scored if not j.is_held and j.expected != "downstream_backpressure"]
        self.healthy = [j for j in self.scored if j.is_healthy]
        self.with_fault = [j for j in self.scored if not j.is_healthy]

    def held_seen(self) -> tuple[int, int]:
        return sum(j.said in HELD for j in self.held), len(self.held)

    def false_alarms(self) -> tuple[int, int]:
        return sum(j.is_false_alarm for j in self.healthy), len(self.healthy)

    def timing(self) -> tuple[int, int]:
        return sum(j.is_right for j in self.scored), len(self.scored)

    def where(self) -> tuple[int, int]:
        return sum(j.where_is_right for j in self.scored), len(self.scored)


def summary(judged: list[Judged]) -> list[tuple[str, str]]:
    of = Figures(judged)
    as_drafts = sum(j.as_drafts for j in of.unscored)
    return [
        ("streams scored", str(len(of.scored))),
        ("with a fault", str(len(of.with_fault))),
        ("of these held by a hop", str(len(of.held))),
        ("healthy", str(len(of.healthy))),
        ("held: said so (recall)", share(*of.held_seen())),
        ("not held: said so (recall)", share(sum(j.said not in HELD for j in of.not_held), len(of.not_held))),
        ("false alarms among the healthy", share(*of.false_alarms())),
        ("exact `timing` right", share(*of.timing())),
        ("exact `timing` right, of those with a fault", share(sum(j.is_right for j in of.with_fault), len(of.with_fault))),
        ("`where` right", share(*of.where())),
        ("held, but not to be told from an engine that speculates: not scored", str(as_drafts)),
        ("neither clearly held nor clearly not, or not to be proven: not scored", str(len(of.unscored) - as_drafts)),
    ]


def missed_bounds(judged: list[Judged]) -> list[str]:
    """What the streams fall short of, in words."""
    of = Figures(judged)

    def part(counts: tuple[int, int]) -> float:
        return counts[0] / counts[1] if counts[1] else 0.0

    bounds = [
        (len(of.with_fault) >= LEAST_WITH_FAULT, f"{len(of.with_fault)} streams with a fault, not {LEAST_WITH_FAULT}"),
        (len(of.healthy) >= LEAST_HEALTHY, f"{len(of.healthy)} healthy streams, not {LEAST_HEALTHY}"),
        (part(of.held_seen()) >= LEAST_HELD_SEEN, f"of the held seen as held {share(*of.held_seen())}, not {LEAST_HELD_SEEN}"),
        (of.false_alarms()[0] <= MOST_FALSE_ALARMS, f"{of.false_alarms()[0]} false alarms among the healthy, not {MOST_FALSE_ALARMS}"),
        (part(of.timing()) >= LEAST_TIMING, f"exact timing right {share(*of.timing())}, not {LEAST_TIMING}"),
        (part(of.where()) >= LEAST_WHERE, f"where right {share(*of.where())}, not {LEAST_WHERE}"),
    ]
    return [words for is_kept, words in bounds if not is_kept]


def table(head: list[str], rows: list[list]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]) + "\n"


def confusion(scored: list[Judged]) -> str:
    counts = Counter((j.expected, j.said) for j in scored)
    said = sorted({said for _, said in counts})
    rows = []
    for expected in sorted({e for e, _ in counts}):
        rows.append([f"**{expected}**", *(counts[expected, s] or "" for s in said)])
    return table(["expected ↓ · said →", *said], rows)


def per_verdict(scored: list[Judged]) -> str:
    rows = []
    for timing in sorted({j.expected for j in scored} | {j.said for j in scored}):
        right = sum(j.said == timing == j.expected for j in scored)
        said, expected = sum(j.said == timing for j in scored), sum(j.expected == timing for j in scored)
        rows.append([timing, share(right, said), share(right, expected)])
    return table(["verdict", "precision", "recall"], rows)


def reliability(scored: list[Judged]) -> str:
    rows = []
    for low, high in BINS:
        inside = [j for j in scored if low <= j.confidence < high]
        mean = f"{sum(j.confidence for j in inside) / len(inside):.2f}" if inside else "–"
        named, right = (share(sum(of(j) for j in inside), len(inside)) for of in (lambda j: j.names_it, lambda j: j.is_right))
        rows.append([f"{low}–{min(high, 1)}", len(inside), mean, named, right])
    return table(["confidence", "streams", "its mean", "named what was there", "right"], rows)


def per_hop(scored: list[Judged]) -> str:
    rows, by_hop = [], defaultdict(list)
    for j in scored:
        by_hop[j.hop].append(j)
    for hop in hop_table()["hop"]:
        inside = by_hop[hop["name"]]
        expected = Counter(j.expected for j in inside).most_common()
        shown = ", ".join(f"{timing} × {n}" for timing, n in expected)
        rows.append([hop["name"], hop["mechanism"], len(inside), shown, share(sum(j.is_right for j in inside), len(inside))])
    return table(["hop", "mechanism", "streams", "right would be", "right"], rows)


def hops_and_reasons() -> str:
    rows = []
    for hop in hop_table()["hop"]:
        source = f" ([source]({hop['source']}))" if "source" in hop else ""
        rows.append([hop["name"], hop["mechanism"], hop["reason"] + source])
    return table(["hop", "mechanism", "why"], rows)


def tried_cures() -> str:
    rows = json.loads(TRIED.read_text()) if TRIED.exists() else []
    return table(["hop", "before", "what was done", "after"], rows)


def kinds_of_shapes(judged: list[Judged]) -> str:
    streams, healthy = Counter(j.shape for j in judged), Counter(j.shape for j in judged if j.scored and j.is_healthy)
    wrong = Counter(j.shape for j in judged if j.scored and j.is_healthy and not j.is_right)
    rows = [[name, kind.__doc__, streams[name], healthy[name], wrong[name]] for name, kind in shapes.KINDS.items()]
    return table(["kind", "what a server writes so", "streams", "of these healthy", "healthy, and something else said"], rows)


def not_told_apart(judged: list[Judged]) -> str:
    seen = defaultdict(lambda: [0, None])
    for j in judged:
        if j.why_many:
            seen[j.reason, j.why_many, " or ".join(j.allowed)][0] += 1
    rows = [[f"{n}", reason, allowed, why] for (reason, why, allowed), (n, _) in seen.items()]
    rows += [[n, reason, "not scored", ""] for reason, n in Counter(j.reason for j in judged if not j.scored).items()]
    return table(["streams", "what it was", "what is taken as right", "why"], rows)


def document(judged: list[Judged], tuning: list[Judged]) -> str:
    scored = [j for j in judged if j.scored]
    return f"""# Calibration of the verdict

Streams of known shape through real hops, each with its truth from the server's own stamps. `make calibrate` repeats it; the
streams follow from a seed, the machine's unrest does not, so figures differ a little from run to run.

Each stream goes client → dripline → hop → server. The server stamps each write; an event's hold is its arrival at dripline
less that stamp. What is right to say of a stream follows from its holds and from the hop's mechanism, by the table
`calibrate/labels.toml`; dripline's verdict has no part in it. Streams with an even seed are for tuning the rules, those with
an odd seed are held out: **all figures here are of the held-out half**. Nothing but this page shows that half.

## In short

{table(["held-out half", ""], [list(row) for row in summary(judged)])}
{bounds_in_words(judged)}

The same of the tuning half:

{table(["tuning half", ""], [list(row) for row in summary(tuning)])}
## Confusion matrix

Where several verdicts are right, the one that was said counts as the expected one. `irregular` says on which side of dripline
the unevenness arose, and accuses nobody: it is no fault that was found, and no false alarm.

{confusion(scored)}
## Each verdict

{per_verdict(scored)}
## What the confidence is worth

A confidence is the probability that what the verdict names is what was there. Even streams of equal events go through a
buffer, a timer and a counter alike: each of the three is right to say then, but only one was there, so the confidence is lower
than the part that is right; and it stays below what these streams give where real traffic may bring hops that are not among them.

{reliability(scored)}
## Each kind of stream

{kinds_of_shapes(judged)}
## Each hop

{per_hop(scored)}
## What cannot be told apart, and what was not scored

{not_told_apart(judged)}
## The hops

{hops_and_reasons()}
## What following the hints does

The settings that the hints name, each set on the hop in question, and the same streams again. A scripted hop has no such
setting: it was taken away, which shows no more than that the hop was it and not the streams.

{tried_cures()}
`stream_interval`, chunk sizes of guards and Azure's filter belong to servers that do not run here; their release patterns are
played by the scripted hops.

## How to repeat it

`make calibrate` installs the hops (`scripts/setup.sh calibrate`), builds dripline, sends the streams and writes this page.
The single steps, with `.venv/bin/python -m calibrate`: `run --streams N --seed S --hops a,b` sends streams and writes
`calibrate/out/corpus.jsonl` (or `--out`), `cures` sends the same streams through each faulty hop and through its cured twin, `score`
writes this page of both and fails where a bound is missed, `rejudge` asks the rules as they are now about the tuning half. The
streams of the tuning half of which something wrong was said are in `calibrate/out/wrong.jsonl`.
"""


def bounds_in_words(judged: list[Judged]) -> str:
    bounds = (
        f"at least {LEAST_WITH_FAULT} streams with a fault and {LEAST_HEALTHY} healthy, of the held {LEAST_HELD_SEEN} seen as held, "
        f"{MOST_FALSE_ALARMS} false alarms among the healthy, exact timing {LEAST_TIMING}, where {LEAST_WHERE}"
    )
    missed = missed_bounds(judged)
    return f"To reach: {bounds}. " + (f"**Missed: {'; '.join(missed)}.**" if missed else "All of it is reached.")


def write_wrong(judged: list[Judged], corpus: Path) -> str:
    """Beside the corpus: the streams of the tuning half of which something wrong was said."""
    wrong = [j for j in judged if j.half == "tuning" and j.scored and not (j.is_right and j.where_is_right)]
    names = ["id", "hop", "shape", "fault", "settings", "seed", "allowed", "where", "reason", "said", "said_where", "confidence"]
    to = corpus.with_name("wrong.jsonl")
    with open(to, "w") as out:
        for j in wrong:
            out.write(json.dumps({name: getattr(j, name) for name in names}) + "\n")
    return f"{len(wrong)} wrong ones of the tuning half: {to}"


def score_corpus(judged: list[Judged], corpus: Path, page: Path) -> list[str]:
    """Writes the page; the bounds that the held-out half misses."""
    tuning, held_out = ([j for j in judged if j.half == half] for half in ("tuning", "held_out"))
    page.parent.mkdir(exist_ok=True)
    page.write_text(document(held_out, tuning))
    for name, value in summary(tuning):
        print(f"{name:70} {value}")
    print(f"{write_wrong(tuning, corpus)}; the held-out half: {page}", file=sys.stderr)
    return missed_bounds(held_out)
