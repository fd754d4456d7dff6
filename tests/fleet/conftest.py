"""Fixtures: a log of 100,000 records, what `dripline report` says of it, and a ClickHouse that has loaded it."""

import pytest
from clickhouse import ClickHouse
from report import Report
from seeds import real_records
from traffic import log_lines

RECORDS = 100_000
GROUPINGS = ["model", "path", "upstream", "verdict", "hour", "label"]


@pytest.fixture(scope="session")
def seeds(tmp_path_factory):
    return real_records(tmp_path_factory.mktemp("seeds"))


@pytest.fixture(scope="session")
def log(seeds, tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "dripline.jsonl"
    with open(path, "w", encoding="utf-8", newline="\n") as out:
        out.writelines(line + "\n" for line in log_lines(seeds, RECORDS))
    return path


@pytest.fixture(scope="session")
def report(log):
    return Report(log, ahead=[("--csv",), *(("--json", "--by", by) for by in GROUPINGS), ("--by", "path"), ("--html", "-")])


@pytest.fixture(scope="session")
def loaded(log, report, tmp_path_factory):
    """A ClickHouse with the shipped schema, and the log in it; it loads while `report` works."""
    del report
    database = ClickHouse(tmp_path_factory.mktemp("clickhouse"))
    database.load(log)
    yield database
    database.close()


@pytest.fixture
def empty(loaded):
    """The same without a record, for what a test puts in itself."""
    loaded.run("TRUNCATE TABLE dripline.records")
    loaded.run("TRUNCATE TABLE dripline.unread")
    return loaded


def pytest_collection_modifyitems(items):
    """One process has one ClickHouse, so those that want it empty come last."""
    items.sort(key=lambda item: "empty" in item.fixturenames)
