"""The tables of the report's page: the requests to look at first, by the shipped queries."""

import html
import math
import re

import pytest


def table(page: str, section: str) -> list[dict]:
    """The rows of a section's table by the heads of its columns; the id is that of the row."""
    [body] = re.findall(rf'<section id="{section}">.*?<tbody[^>]*>(.*?)</tbody>', page, re.DOTALL)
    rows = []
    for row in body.split("<tr ")[1:]:
        [number] = re.findall(r"<code>(.*?)</code>", row)
        cells = re.findall(r'<td [^>]*data-head="([^"]*)">(.*?)</td>', row, re.DOTALL)
        rows.append({"id": number, **{head: html.unescape(re.sub(r"<[^>]*>", "", cell)).strip() for head, cell in cells}})
    return rows


def is_shown(ms: float | None, cell: str) -> bool:
    """The page has three digits and a unit."""
    if ms is None:
        return cell == "–"
    value, unit = cell.split()
    return math.isclose(ms, float(value) * {"ms": 1, "s": 1000}[unit], rel_tol=0.006, abs_tol=0.006)


@pytest.mark.parametrize(
    "column, value, waited_for",
    [(None, None, "first token"), ("end", "client_gone", "first token, in vain"), ("verdict", "stall_with_catch_up", "next token")],
)
def test_the_longest_waits(loaded, report, column, value, waited_for):
    where = ("--where", f"{column}={value}") if column else ()
    only = f" SETTINGS additional_table_filters = {{'dripline.records': '{column} = \\'{value}\\''}}" if column else ""
    expected = table(report.text("--html", "-", *where), "waits")
    found = loaded.page("waits", only, limit=20)
    assert len(found) == 20 and waited_for in {row["waited_for"] for row in found}
    for row, shown in zip(found, expected, strict=True):
        assert (row["id"], row["waited_for"], str(row["in_flight"])) == (shown["id"], shown["for the"], shown["open"])
        assert row["end"] == shown.get("end", "complete") and shown["verdict"] == row["verdict"] + (", cold" if row["cold"] else "")
        for figure, cell in [("waited_ms", "waited"), ("ttft_ms", "TTFT"), ("gap_p99_ms", "gap p99")]:
            assert is_shown(row[figure], shown[cell]), (row, shown)


def test_the_latest_failures(loaded, report):
    expected = table(report.text("--html", "-"), "failures")
    found = loaded.page("failures", limit=20)
    assert len(found) == 20
    for row, shown in zip(found, expected, strict=True):
        assert (row["id"], row["end"], str(row["status"] or "–")) == (shown["id"], shown["end"], shown["status"])
        assert is_shown(row["after_ms"], shown["after"]), (row, shown)
