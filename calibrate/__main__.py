"""python -m calibrate run | score | rejudge | cures"""

import argparse
import sys
from pathlib import Path

from calibrate import cures, rejudge, run, score

HALVES = ("tuning", "held_out")


def main():
    parser = argparse.ArgumentParser(prog="calibrate", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    sending = argparse.ArgumentParser(add_help=False)
    sending.add_argument("--seed", type=int, default=3)
    sending.add_argument("--concurrency", type=int, default=60, help="streams at once")
    sending.add_argument("--events-per-s", type=float, default=2400, help="of all streams together")
    sending.add_argument("--hops", type=lambda names: names.split(","), help="only these, by name")
    running = commands.add_parser("run", parents=[sending], help="send the streams and write the corpus")
    running.add_argument("--streams", type=int, default=3400)
    running.add_argument("--out", type=Path, default=run.CORPUS, help="the corpus to write")
    kept = argparse.ArgumentParser(add_help=False)
    kept.add_argument("--corpus", type=Path, default=run.CORPUS)
    scoring = commands.add_parser("score", parents=[kept], help="judge the corpus's records and write the page; fails where a bound is missed")
    scoring.add_argument("--page", type=Path, default=score.DOC)
    scoring.add_argument("--again", action="store_true", help="by the rules as they are now, not as they were when the streams were sent")
    commands.add_parser("rejudge", parents=[kept], help="judge the corpus's tuning half again by the rules as they are now")
    curing = commands.add_parser("cures", parents=[sending], help="send the same streams through each faulty hop and through its cured twin")
    curing.add_argument("--streams", type=int, default=6, help="for each pair")
    chosen = parser.parse_args()
    if chosen.command == "run":
        run.run_to_corpus(chosen.streams, chosen.seed, chosen.concurrency, chosen.events_per_s, chosen.hops, chosen.out)
    elif chosen.command == "score":
        judged = rejudge.rejudge(chosen.corpus, HALVES) if chosen.again else score.read(chosen.corpus)
        if missed := score.score_corpus(judged, chosen.corpus, chosen.page):
            sys.exit("missed on the held-out half: " + "; ".join(missed))
    elif chosen.command == "rejudge":
        rejudge.print_rejudged(chosen.corpus)
    else:
        if not cures.compare(chosen.streams, chosen.seed, chosen.concurrency, chosen.events_per_s, chosen.hops):
            sys.exit("a hint did not help")


main()
