"""The pages of `dripline report --json`, by the shipped queries: every figure of them is the same."""

import pytest
from report import same

SPREADS = ["ttft", "gap_p50", "gap_p99", "per_token", "end"]
TOTALS = ["n", "gap_mean_ms", "gaps", "prompt_tokens", "completion_tokens"]
NOTHING = {key: None for key in ["mean_ms", "std_ms", "p50_ms", "p95_ms", "p99_ms", "max_ms"]}


def figures_of(row: dict) -> dict:
    """A row of figures.sql as the report's object."""
    nested = {total: row[total] for total in TOTALS}
    for spread in SPREADS:
        nested[spread] = {key: row[f"{spread}.{key}"] for key in NOTHING}
    return nested


def no_figures() -> dict:
    return {"n": 0, "gaps": 0, "gap_mean_ms": None, "prompt_tokens": None, "completion_tokens": None, **{spread: NOTHING for spread in SPREADS}}


@pytest.mark.parametrize("by", ["model", "path", "upstream", "verdict", "hour", "label"])
def test_groups_and_their_figures(loaded, report, by):
    expected = report.summary("--by", by)
    groups = loaded.page("groups", by=by)
    figures = {(row["name"], row["cold"]): figures_of(row) for row in loaded.page("figures", by=by)}
    assert len(groups) == len(expected["groups"]) > 3
    order = (lambda group: group["name"]) if by == "hour" else (lambda group: (-group["n"], group["name"].encode()))
    for group, other in zip(sorted(groups, key=order), expected["groups"], strict=True):
        assert {**group, "warm": other["warm"], "cold": other["cold"]} == other
        for cold, side in [(False, "warm"), (True, "cold")]:
            found = figures.pop((group["name"], cold), no_figures())
            assert same(found, other[side]), f"{group['name']!r} {side}:\n{found}\n{other[side]}"
    assert not figures, "groups that the report does not have"


def test_the_whole(loaded, report):
    expected = report.summary("--by", "model")
    whole = {row["cold"]: figures_of(row) for row in loaded.page("figures", by="all")}
    assert same(whole[False], expected["warm"]) and same(whole[True], expected["cold"])
    assert expected["warm"]["n"] > 50_000 and expected["cold"]["n"] > 1_000

    [overview] = loaded.page("overview")
    for end in ("from", "until"):
        overview[end] = overview[end].replace(" ", "T") + "Z"
    for key, value in overview.items():
        assert same(value, expected[key]), (key, value, expected[key])


def test_limits_and_what_several_records_show(loaded, report):
    expected = report.summary("--by", "model")["found"]
    key = lambda limit: (limit["kind"], limit["where"], limit["after_ms"])  # noqa: E731
    assert sorted(loaded.page("limits"), key=key) == sorted(expected["limits"], key=key)
    assert len(expected["limits"]) > 3
    assert loaded.page("across") == sorted(expected["across"], key=lambda across: across["code"])
    assert expected["across"]


def test_a_choice_is_the_report_s(loaded, report):
    since, until = "2026-10-25T00:30:00Z", "2026-10-25T07:00:00.5Z"
    expected = report.summary("--by", "upstream", "--since", since, "--until", until, "--where", "model=llama*", "--where", "end!=refused")
    only = " SETTINGS additional_table_filters = {'dripline.records': 'model LIKE \\'llama%\\' AND end != \\'refused\\''}"
    window = {"since": since.replace("T", " ").rstrip("Z"), "until": until.replace("T", " ").rstrip("Z")}
    groups = loaded.page("groups", only, by="upstream", **window)
    assert [(group["name"], group["n"], group["errors"]) for group in groups] == [
        (group["name"], group["n"], group["errors"]) for group in expected["groups"]
    ]
    warm = [figures_of(row) for row in loaded.page("figures", only, by="all", **window) if not row["cold"]]
    assert same(warm[0], expected["warm"]) and 0 < warm[0]["n"] < 10_000


def test_a_time_without_requests_has_no_figures(loaded):
    never = {"since": "2025-01-01 00:00:00", "until": "2025-01-02 00:00:00"}
    [overview] = loaded.page("overview", **never)
    assert overview.pop("records") == overview.pop("errors") == overview.pop("completed") == 0
    assert set(overview.values()) == {None}
    for page in ("groups", "figures"):
        assert loaded.page(page, by="model", **never) == []
