"""The rows of `dripline report --csv`, and the pictures that are drawn of them, by the shipped queries."""

import re
from bisect import bisect_right
from collections import Counter
from datetime import datetime, timezone

import pytest

# The edges of the report's rows; what is shorter is in the row from 0 on.
EDGES = [0, 0.1, 0.2, 0.5] + [digit * 10.0**power for power in range(6) for digit in (1, 2, 5)] + [1e6]
TEXTS = ["label", "instance", "method", "path", "model", "upstream", "error_type"]


def row_of(ms: str) -> float:
    return EDGES[bisect_right(EDGES, float(ms)) - 1]


def measured(report) -> list[dict]:
    return [row for row in report.rows() if row["end"] == "complete" and row["verdict"] and row["ttft_ms"]]


def cell(value) -> str:
    """A value of ClickHouse's as the CSV has it."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def test_every_cell_of_every_request(loaded, report):
    found = {row["id"]: row for row in loaded.page("requests", worst="ttft_ms", limit=10**9)}
    assert len(found) == len(report.rows()) == 100_000
    for expected in report.rows():
        row = found.pop(expected["id"])
        assert list(row) == list(expected), "the columns, in their order"
        row["started_at"] = row["started_at"].replace(" ", "T") + "Z"
        for column, cell_of_report in expected.items():
            assert is_same(column, cell(row[column]), cell_of_report), (column, row[column], cell_of_report)


def is_same(column: str, found: str, expected: str) -> bool:
    if found == expected:
        return True
    if column in TEXTS:  # a formula has an apostrophe there, and what steers a terminal is replaced
        controls = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", "\ufffd", found)
        return expected in (controls, "'" + controls)
    if column == "started_at":
        return datetime.fromisoformat(found) == datetime.fromisoformat(expected)
    if found and expected and re.fullmatch(r"[\d.e+-]+", expected):
        return float(found) == float(expected)
    return False


@pytest.mark.parametrize("worst", ["ttft_ms", "gap_max_ms", "end_ms"])
def test_the_worst_come_first(loaded, report, worst):
    found = [row["id"] for row in loaded.page("requests", worst=worst, limit=50)]
    known = [row for row in report.rows() if row[worst]]
    assert found == [row["id"] for row in sorted(known, key=lambda row: (-float(row[worst]), row["id"]))[:50]]


@pytest.mark.parametrize("figure", ["ttft_ms", "gap_p99_ms"])
@pytest.mark.parametrize("step", [300, 3600])
def test_heatmaps_over_time(loaded, report, figure, step):
    def step_of(row) -> str:
        start = int(datetime.fromisoformat(row["started_at"]).timestamp()) // step * step
        return datetime.fromtimestamp(start, timezone.utc).strftime("%Y-%m-%d %H:%M:%S")

    expected = Counter((step_of(row), row_of(row[figure])) for row in measured(report) if row[figure])
    found = {(row["at"], row["from_ms"]): row["n"] for row in loaded.page("heatmap", figure=figure, step=step)}
    assert found == expected and len(found) > 100


def percentile(values: list[float], p: int) -> float:
    return sorted(values)[(p * (len(values) - 1) + 50) // 100]


def test_time_to_first_token_over_time(loaded, report):
    hours = {}
    for row in measured(report):
        if row["cold"] == "false":
            hours.setdefault(row["started_at"][:13].replace("T", " ") + ":00:00", []).append(float(row["ttft_ms"]))
    found = loaded.page("over_time", step=3600)
    assert [row["at"] for row in found] == sorted(hours) and len(found) == 38
    for row in found:
        ttft = hours[row["at"]]
        expected = (len(ttft), *(percentile(ttft, p) for p in (50, 95, 99)), max(ttft))
        assert (row["n"], *(row[f"ttft.{key}_ms"] for key in ("p50", "p95", "p99", "max"))) == expected


def test_time_to_first_token_by_load(loaded, report):
    loads = {}
    for row in measured(report):
        loads.setdefault(int(row["in_flight"]), []).append(float(row["ttft_ms"]))
    found = loaded.page("load")
    assert [row["in_flight"] for row in found] == sorted(loads)
    for row in found:
        ttft = loads[row["in_flight"]]
        assert (row["n"], row["ttft.p50_ms"], row["ttft.p99_ms"]) == (len(ttft), percentile(ttft, 50), percentile(ttft, 99))


def test_the_scatter(loaded, report):
    expected = Counter((row_of(row["ttft_ms"]), row_of(row["gap_p99_ms"])) for row in measured(report) if row["gap_p99_ms"])
    found = {(row["ttft_from_ms"], row["gap_p99_from_ms"]): row["n"] for row in loaded.page("scatter", by="all")}
    assert found == expected


def test_the_longest_gap_of_each_stream(loaded, report):
    expected = Counter(row_of(row["gap_max_ms"]) for row in measured(report) if row["gap_max_ms"])
    assert {row["from_ms"]: row["n"] for row in loaded.page("longest_gaps", by="all")} == expected


def test_the_histogram_that_the_page_draws(loaded, report):
    """There are timelines in the log, so that it is of all gaps. Of more than 20 groups a page would leave some out."""
    page = report.text("--by", "path")
    drawn = page.split("Gaps between token events, of the streams with a timeline\n")[1].split("\n\n")[0]
    counts = re.findall(r"^ *(?:under|over|[\d.]+ –)? *[\d.]+ m?s +(\d+|·)", drawn, re.MULTILINE)
    found = {row["from_ms"]: row["n"] for row in loaded.page("gaps", by="all")}
    first, last = EDGES.index(min(found)), EDGES.index(max(found))
    assert [0 if count == "·" else int(count) for count in counts] == [found.get(edge, 0) for edge in EDGES[first : last + 1]]
    assert sum(found.values()) > 1_000
