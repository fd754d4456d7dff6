"""Compares what dripline said with what is right, and writes docs/calibration.md. All figures are of the held-out half."""

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

from calibrate import labels
from calibrate.programs import ROOT, hop_table
from calibrate.cures import TRIED
from calibrate.run import CORPUS, OUT

DOC = ROOT / "docs" / "calibration.md"
BINS = [(0, 0.45), (0.45, 0.55), (0.55, 0.65), (0.65, 0.85), (0.85, 0.93), (0.93, 1.01)]
# Verdicts that say: bytes were kept somewhere on the way and then came together.
HELD = {"whole_body_burst", "block_burst", "tick_burst", "count_burst", "transport_coalesced", "stall_with_catch_up"}
HEALTHY = {"steady", "irregular"}
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


def summary(scored: list[Judged]) -> list[tuple[str, str]]:
    held = [j for j in scored if j.is_held]
    healthy = [j for j in scored if j.is_healthy]
    not_held = [j for j in scored if not j.is_held and j.expected != "downstream_backpressure"]
    return [
        ("streams scored", str(len(scored))),
        ("with a fault", str(len(scored) - len(healthy))),
        ("of these held by a hop", str(len(held))),
        ("healthy", str(len(healthy))),
        ("held: said so (recall)", share(sum(j.said in HELD for j in held), len(held))),
        ("not held: said so (recall)", share(sum(j.said not in HELD for j in not_held), len(not_held))),
        ("false alarms among the healthy", share(sum(j.is_false_alarm for j in healthy), len(healthy))),
        ("exact `timing` right", share(sum(j.is_right for j in scored), len(scored))),
        ("exact `timing` right, of those with a fault", share(sum(j.is_right for j in scored if not j.is_healthy), len(scored) - len(healthy))),
        ("`where` right", share(sum(j.where_is_right for j in scored), len(scored))),
    ]


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
    rows = [[hop, before, f"`{what}`", after] for hop, before, what, after in rows]
    return table(["hop", "before", "what the hint says", "after"], rows)


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
an odd seed are held out: **all figures here are of the held-out half**.

## In short

{table(["held-out half", ""], [list(row) for row in summary(scored)])}
The same of the tuning half:

{table(["tuning half", ""], [list(row) for row in summary([j for j in tuning if j.scored])])}
## Confusion matrix

Where several verdicts are right, the one that was said counts as the expected one.

{confusion(scored)}
## Each verdict

{per_verdict(scored)}
## What the confidence is worth

Even streams of equal events go through a buffer, a timer and a counter alike, and each of the three is right to say then. The
confidence is the part in which the one that was said is the one that was there; it stays below what these streams give where
real traffic may bring hops that are not among them.

{reliability(scored)}
## Each hop

{per_hop(scored)}
## What cannot be told apart, and what was not scored

{not_told_apart(judged)}
## The hops

{hops_and_reasons()}
## What following the hints does

The settings that the hints name, each set on the hop in question, and the same streams again:

{tried_cures()}
`stream_interval`, chunk sizes of guards and Azure's filter belong to servers that do not run here; their release patterns are
played by the scripted hops.

## How to repeat it

`make calibrate` installs the hops (`scripts/setup.sh calibrate`), builds dripline, sends the streams and writes this page.
The single steps, with `.venv/bin/python -m calibrate`: `run --streams N --seed S --hops a,b` sends streams and writes
`calibrate/out/corpus.jsonl`, `cures` sends the same streams through each faulty hop and through its cured twin, `score`
writes this page of both, `rejudge` asks the rules as they are now about the corpus. The streams of which something wrong was said are in `calibrate/out/wrong.jsonl`.
"""


def write_wrong(judged: list[Judged]) -> int:
    wrong = [j for j in judged if j.scored and not (j.is_right and j.where_is_right)]
    names = ["id", "half", "hop", "shape", "fault", "settings", "seed", "allowed", "where", "reason", "said", "said_where", "confidence"]
    with open(OUT / "wrong.jsonl", "w") as out:
        for j in wrong:
            out.write(json.dumps({name: getattr(j, name) for name in names}) + "\n")
    return len(wrong)


def score_corpus(corpus: Path = CORPUS):
    judged = read(corpus)
    held_out = [j for j in judged if j.half == "held_out"]
    DOC.parent.mkdir(exist_ok=True)
    DOC.write_text(document(held_out, [j for j in judged if j.half == "tuning"]))
    for name, value in summary([j for j in held_out if j.scored]):
        print(f"{name:46} {value}")
    print(f"{write_wrong(judged)} wrong ones of both halves: {OUT.relative_to(ROOT)}/wrong.jsonl; the page: {DOC.relative_to(ROOT)}", file=sys.stderr)
