"""Judges a corpus again with the rules as they are now (examples/rejudge.rs), without sending a single stream.

Only the tuning half is shown, so that no rule is made to fit the other: that one is only in the page that `score` writes,
`score --again` too.
"""

import base64
import json
import subprocess
import sys
import threading
import zlib
from pathlib import Path

from calibrate import labels
from calibrate.programs import ROOT
from calibrate.score import Judged, summary, write_wrong

PROGRAM = ROOT / "target" / "release" / "examples" / "rejudge"
# What the client's socket did is not in a timeline, so a verdict on the client stays as it was.
NOT_REPLAYED = "client"


def rejudge(corpus: Path, halves: tuple = ("tuning",)) -> list[Judged]:
    """The streams of these halves with the verdicts of the rules as they are now."""
    if not PROGRAM.is_file():
        sys.exit(f"no {PROGRAM.relative_to(ROOT)}: cargo build --release --locked --bin dripline --example rejudge")
    program = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    rows = []

    def feed():
        with open(corpus) as file, program.stdin as to:
            for line in file:
                row = json.loads(line)
                if row["half"] not in halves:
                    continue
                body = zlib.decompress(base64.b64decode(row.pop("body_zlib_b64"))).decode("latin-1")
                rows.append(labels.with_label(row))
                to.write(json.dumps({"record": row["record"], "body": body}).encode() + b"\n")

    feeding = threading.Thread(target=feed)
    feeding.start()
    records = [json.loads(line) for line in program.stdout]
    feeding.join()
    if program.wait() != 0:
        sys.exit("the corpus could not be judged: its records and this build do not fit")
    for row, record in zip(rows, records, strict=True):
        if labels.hops()[row["hop"]]["mechanism"] != NOT_REPLAYED:
            row["record"]["verdict"] = record["verdict"]
    return [Judged(row) for row in rows]


def print_rejudged(corpus: Path):
    judged = rejudge(corpus)
    for name, value in summary(judged):
        print(f"{name:70} {value}")
    print(write_wrong(judged, corpus), file=sys.stderr)
