"""The expected label of a stream: the first row of `labels.toml` that fits its facts."""

import tomllib
from functools import cache

from calibrate import truth
from calibrate.programs import HERE, hop_table

TICK_CV = 0.10  # the record's definitions of what is constant
COUNT_STEP = 1
LONG_WAIT_MS = 2000
# What speculative decoding writes: on average so many events in a step of so long on a GPU ...
DRAFT_MS, DRAFT_EVENTS = 70, 5
# ... and at most: of a draft up to 8 tokens are accepted at once (longer ones are seldom taken whole), and a step takes from
# 15 ms, a small model on a GPU, to some hundred ms, a large one on a CPU.
LONGEST_DRAFT, LONGEST_STEP_MS = 8, 500
# A step now and then accepts one or two: drafts whose least is more are none. (A release of one write is none by truth.py.)
LEAST_OF_DRAFTS = 2
SHORT_WAIT_MS = 1000  # the first draft of an answer may have taken as long as any first token
ENDS = 3  # events beside the tokens: role, finish, usage or end marker


class Table:
    def __init__(self):
        with open(HERE / "labels.toml", "rb") as file:
            table = tomllib.load(file)
        self.rows = table["row"]
        self.exact = table["noise"]["exact"]

    def label(self, facts: dict) -> dict:
        facts = facts | self.derived(facts)
        for number, row in enumerate(self.rows):
            if all(fits(facts.get(name), wanted) for name, wanted in row["when"].items()):
                where = row.get("where", "none")
                return {
                    "timing": row["timing"],
                    "where": None if where == "none" else where,
                    "reason": row["reason"],
                    "why_many": row.get("why_many"),
                    "scored": row.get("scored", True),
                    "as_drafts": row.get("as_drafts", False),
                    "row": number,
                }
        raise AssertionError("the last row fits everything")

    def derived(self, facts: dict) -> dict:
        """What the rows ask that follows from the facts."""
        if facts["state"] == "unknown":
            return {}
        period, count, size = facts["period_cv"], facts["count_cv"], facts["bytes_cv"]
        known = period is not None
        event = facts["bytes"] / max(facts["count"], 1) if known else 0
        return {
            "kind_pause": facts["kind"] in ("pause_middle", "keepalive"),
            "period_constant": known and period <= TICK_CV,
            "count_constant": known and facts["count_range"][1] - facts["count_range"][0] <= 2 * COUNT_STEP,
            "bytes_constant": known and size * facts["bytes"] <= event,
            "bytes_constant_by_write": known and size * facts["bytes"] <= event * facts["events_per_write"],
            "one_draft": facts["events"] <= LONGEST_DRAFT + ENDS and facts["first_token_ms"] < SHORT_WAIT_MS,
            "short_steps": known and facts["period_ms"] <= DRAFT_MS and facts["count"] <= DRAFT_EVENTS,
            "like_drafts": known and is_like_drafts(facts["period_ms"], *facts["count_range"]),
            "period_exact": known and period <= self.exact,
            "count_exact": known and count <= self.exact,
            "bytes_exact": known and size <= self.exact,
            "header_held": facts["header_arrived_ms"] - facts["header_ms"] > LONG_WAIT_MS / 2,
            "wait_after_header_ms": facts["first_token_ms"] - facts["header_arrived_ms"],
            "long_tail": facts["tail_ms"] >= max(1000, 5 * facts["gap_p90_ms"]),
            "long_gap": facts["gap_max_ms"] >= max(250, 5 * facts["gap_p90_ms"]),
        }


def is_like_drafts(period_ms: float, least: int, most: int) -> bool:
    return period_ms <= LONGEST_STEP_MS and least <= LEAST_OF_DRAFTS and most <= LONGEST_DRAFT


def fits(value, wanted) -> bool:
    if isinstance(wanted, list):
        return value in wanted
    if isinstance(wanted, dict):
        return value is not None and wanted.get("min", value) <= value <= wanted.get("max", value)
    return value == wanted


@cache
def table() -> Table:
    return Table()


@cache
def hops() -> dict:
    return {hop["name"]: hop for hop in hop_table()["hop"]}


def with_label(row: dict) -> dict:
    """The row with its facts and what is expected of it, made anew from its stamps."""
    facts = truth.of(row, hops()[row["hop"]])
    return row | {"truth": facts, "expected": table().label(facts)}
