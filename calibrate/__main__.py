"""python -m calibrate run | score | rejudge | cures"""

import argparse
import sys

from calibrate import cures, rejudge, run, score


def main():
    parser = argparse.ArgumentParser(prog="calibrate", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    sending = argparse.ArgumentParser(add_help=False)
    sending.add_argument("--seed", type=int, default=2)
    sending.add_argument("--concurrency", type=int, default=60, help="streams at once")
    sending.add_argument("--events-per-s", type=float, default=2400, help="of all streams together")
    sending.add_argument("--hops", type=lambda names: names.split(","), help="only these, by name")
    running = commands.add_parser("run", parents=[sending], help="send the streams and write the corpus")
    running.add_argument("--streams", type=int, default=3100)
    commands.add_parser("score", help="judge the corpus's records and write docs/calibration.md")
    commands.add_parser("rejudge", help="judge the corpus's streams again by the rules as they are now, tuning and held-out half")
    curing = commands.add_parser("cures", parents=[sending], help="send the same streams through each faulty hop and through its cured twin")
    curing.add_argument("--streams", type=int, default=6, help="for each pair")
    chosen = parser.parse_args()
    if chosen.command == "run":
        run.run_to_corpus(chosen.streams, chosen.seed, chosen.concurrency, chosen.events_per_s, chosen.hops)
    elif chosen.command == "score":
        score.score_corpus()
    elif chosen.command == "rejudge":
        rejudge.print_rejudged(run.CORPUS)
    else:
        if not cures.compare(chosen.streams, chosen.seed, chosen.concurrency, chosen.events_per_s, chosen.hops):
            sys.exit("a hint did not help")


main()
