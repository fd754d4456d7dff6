"""What goes into ClickHouse, and comes back out of it: lines of all kinds, twice, and as they were."""

import json
import re
import subprocess

import pytest
from clickhouse import ALWAYS, shipped
from collector import TABLE, Collector, exported
from report import UTC
from seeds import real_records
from support import dripline_binary


def test_a_log_comes_back_byte_for_byte(loaded, log):
    """So that all forms of the report can be had of any part of it."""
    window = {**ALWAYS, "since": "2026-10-25 12:00:00", "until": "2026-10-25 13:00:00"}
    back = loaded.run(shipped("queries/log.sql"), "TSVRaw", **window)
    lines = lines_with(log, '"started_at":"2026-10-25T12:')
    assert back == "".join(lines) and len(lines) > 1_000
    # an answer's own id is on many lines here, and dripline's on one
    number = json.loads(lines[7])["id"]
    one = loaded.run(shipped("queries/record.sql"), "TSVRaw", id=number)
    assert one == lines[7]
    explained = subprocess.run([dripline_binary(), "report", "-", "--explain", number], input=one, env=UTC, capture_output=True, text=True)
    assert explained.returncode == 0 and f"request {number}" in explained.stdout, explained


def lines_with(log, text: str) -> list[str]:
    with open(log, encoding="utf-8", newline="\n") as lines:
        return [line for line in lines if text in line]


def test_a_page_reads_no_more_than_its_time(loaded):
    window = {"since": "2026-10-26 01:00:00", "until": "2026-10-26 03:00:00"}
    plan = loaded.run("EXPLAIN indexes = 1 " + shipped("queries/overview.sql"), "TSVRaw", **window)
    [read] = re.findall(r"Parts: \d+ \| Granules: (\d+)", plan)
    of = re.findall(r"Min-Max\n(?:.*\n)*? *Granules: \d+/(\d+)", plan)[0]
    assert int(read) * 5 < int(of), plan


def test_what_comes_twice_is_one(loaded, log, tmp_path):
    before = loaded.page("groups", by="model")
    again = tmp_path / "again.jsonl"
    again.write_text("".join(lines_with(log, '"started_at":"2026-10-25T12:')))
    loaded.load(again)
    assert loaded.page("groups", by="model") == before
    assert int(loaded.run("SELECT count() FROM dripline.records", "TSV")) > 100_000


def test_lines_that_are_no_records_are_kept_apart(empty, seeds, tmp_path):
    good = json.dumps(seeds[0])
    newer = json.dumps({**seeds[0], "id": "newer", "schema": 2})
    timeless = json.dumps({**seeds[0], "id": "timeless", "started_at": "soon"})
    more = json.dumps({**seeds[0], "id": "more", "of_tomorrow": [1]})
    huge = json.dumps({**seeds[0], "id": "huge", "ttft_ms": 1e300, "stalls": [], "gaps": seeds[0]["gaps"]})
    lines = [good, good[: len(good) // 2], "", "a line of another program", newer, timeless, more, "[]", "null", '{"schema":1}', huge]
    log = tmp_path / "mixed.jsonl"
    log.write_bytes("\n".join(lines).encode() + b"\n\xff\xfe\n")
    empty.load(log)
    assert ids(empty) == sorted([seeds[0]["id"], "more", "huge"])
    unread = json.loads(empty.run("SELECT groupArray(beginning) AS lines FROM dripline.unread"))["lines"]
    assert len(unread) == 8 and all(len(line) <= 160 for line in unread), unread


@pytest.mark.parametrize("form", ["body", "attributes"])
def test_by_way_of_a_collector(empty, seeds, tmp_path, form):
    """Each record as the Collector's exporter puts it into its table is the row that its line is."""
    records = [{**record, "id": f"{number:03}", "label": label} for number, record in enumerate(seeds) for label in ["12", 'say "no"']]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(record) + "\n" for record in records))
    empty.load(log)
    by_line = rows_without_text(empty)
    empty.run("TRUNCATE TABLE dripline.records")
    rows = []
    for record in records:
        body = json.dumps(record) if form == "body" else "a request"
        attributes = {} if form == "body" else {key: exported(value) for key, value in record.items()}
        rows.append({"ServiceName": "dripline", "Body": body, "LogAttributes": attributes})
    insert(empty, rows, tmp_path)
    assert rows_without_text(empty) == by_line and len(by_line) == len(seeds)


def test_what_is_sent_by_otlp_is_what_is_written(empty, tmp_path):
    """The whole way: from real requests over the protocol into the table, beside the log of the same requests."""
    collector = Collector()
    (tmp_path / "proxies").mkdir()
    records = real_records(tmp_path / "proxies", "--otlp", collector.url, "--otlp-signals", "logs", "--label", 'say "no"')
    collector.close()
    assert {row["EventName"] for row in collector.rows} == {"dripline.request"} and len(collector.rows) == len(records)
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(record) + "\n" for record in records))
    empty.load(log)
    by_line = rows_without_text(empty)
    empty.run("TRUNCATE TABLE dripline.records")
    insert(empty, collector.rows, tmp_path)
    assert rows_without_text(empty) == by_line and len(by_line) == len(records)


def insert(database, rows: list[dict], folder):
    """Into the table of the Collector's logs."""
    file = folder / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    database.run(shipped("otlp.sql"))
    columns = ", ".join(rows[0])
    database.run(f"INSERT INTO dripline.otlp ({columns}) SELECT {columns} FROM file('{file}', JSONEachRow, '{TABLE}')")


def rows_without_text(database) -> list[str]:
    return database.run("SELECT * EXCEPT record FROM dripline.records FINAL ORDER BY id").splitlines()


def ids(database) -> list[str]:
    return [json.loads(line)["id"] for line in database.run("SELECT id FROM dripline.records ORDER BY id").splitlines()]


def test_records_go_before_their_figures(empty, seeds, tmp_path):
    """Of this month all is kept, of some months ago the figures, of two years ago nothing."""
    now = json.loads(empty.run("SELECT year(now()) AS year, formatDateTime(now() - INTERVAL 5 MONTH, '%Y-%m-%dT00:00:00Z') AS some"))
    starts = {"now": json.loads(empty.run("SELECT formatDateTime(now(), '%Y-%m-%dT%H:%i:00Z') AS at"))["at"], "some": now["some"], "old": f"{now['year'] - 2}-01-05T00:00:00Z"}
    log = tmp_path / "old.jsonl"
    log.write_text("".join(json.dumps({**seeds[0], "id": name, "started_at": at}) + "\n" for name, at in starts.items()))
    empty.load(log)
    empty.run("OPTIMIZE TABLE dripline.records FINAL")
    rows = [json.loads(line) for line in empty.run("SELECT id, record != '' AS whole, end FROM dripline.records ORDER BY id").splitlines()]
    assert rows == [{"id": "now", "whole": 1, "end": seeds[0]["end"]}, {"id": "some", "whole": 0, "end": seeds[0]["end"]}]


def test_the_schema_may_be_run_again(loaded):
    before = loaded.run("SELECT count() FROM dripline.records")
    loaded.run(shipped("schema.sql"))
    assert loaded.run("SELECT count() FROM dripline.records") == before
