"""Rows of real traffic in the real DuckDB: `report --parquet` says what `report --csv` says, and with types."""

import csv
import json
import shlex
import subprocess
from datetime import datetime, timezone
from pathlib import Path
from statistics import median

import duckdb
import openai
import pytest
from streams import chat, client, stream_chat
from support import dripline_binary

FORMULA = "=1+1"
LABEL = 'größer, "zwei"\nLines'
COUNTS = ["status", "gaps", "stalls", "token_events", "chunks", "bytes", "prompt_tokens", "completion_tokens", "in_flight"]


def type_of(name: str) -> str:
    if name == "started_at":
        return "TIMESTAMP WITH TIME ZONE"
    if name.endswith("_ms") or name == "confidence":
        return "DOUBLE"
    if name == "cold":
        return "BOOLEAN"
    return "BIGINT" if name in COUNTS else "VARCHAR"


def as_a_cell_says(cell: str, kind: str):
    """What is in a cell of the CSV, as Python has it."""
    if cell == "":
        return None
    match kind:
        case "DOUBLE":
            return float(cell)
        case "BIGINT":
            return int(cell)
        case "BOOLEAN":
            return {"true": True, "false": False}[cell]
        case "TIMESTAMP WITH TIME ZONE":
            at = datetime.fromisoformat(cell)
            return int(at.timestamp()) * 1_000_000 + at.microsecond
        case _:
            return cell.removeprefix("'") if cell.startswith("'=") else cell


@pytest.fixture
def log(llmock, start, model):
    """Streams, a whole reply, a name that is a formula, an error, and an upstream that is not there."""
    proxy = start.proxy(llmock.url, "--label", LABEL)
    sdk = client(proxy.url)
    for name in [model, model, FORMULA]:
        stream_chat(sdk, name, stream_options={"include_usage": True})
    sdk.chat.completions.create(**chat(model) | {"stream": False})
    with pytest.raises(openai.NotFoundError):
        sdk.post("/nowhere", body={}, cast_to=object)
    records = proxy.finish()
    gone = start.keeper()
    gone.stop()
    other = start.proxy(gone.url)
    with pytest.raises(openai.InternalServerError):
        stream_chat(client(other.url), model)
    other.finish()
    assert len(records) == 5
    return [proxy.log, other.log]


def report(*args) -> str:
    done = subprocess.run([dripline_binary(), "report", *args], capture_output=True, check=True)
    return done.stdout.decode()


def test_the_rows_are_those_of_the_csv_with_types(log, tmp_path):
    parquet = tmp_path / "requests.parquet"
    assert report(*log, "--parquet", parquet) == ""
    table = report(*log, "--csv")
    head, *rows = csv.reader(table.splitlines(keepends=True))
    assert len(rows) == 6

    described = duckdb.sql(f"DESCRIBE FROM '{parquet}'").fetchall()
    kinds = {name: kind for name, kind, *_ in described}
    assert list(kinds) == head
    assert kinds == {name: type_of(name) for name in head}

    columns = ", ".join('epoch_us("started_at")' if name == "started_at" else f'"{name}"' for name in head)
    found = duckdb.sql(f"SELECT {columns} FROM '{parquet}'").fetchall()
    assert found == [tuple(as_a_cell_says(cell, kinds[name]) for name, cell in zip(head, row)) for row in rows]
    # there was something to compare
    by_name = [dict(zip(head, row)) for row in found]
    assert {row["label"] for row in by_name} == {LABEL, None}
    assert FORMULA in {row["model"] for row in by_name}
    assert any(row["ttft_ms"] is None for row in by_name) and any(row["ttft_ms"] for row in by_name)
    assert any(row["completion_tokens"] for row in by_name)
    assert {row["status"] for row in by_name} == {200, 404, 502}


def test_duckdb_calculates_with_them(log, tmp_path):
    parquet = tmp_path / "streams.parquet"
    report(*log, "--parquet", parquet, "--where", "end=complete", "--where", f"model!={FORMULA}")
    query = f"""
        SELECT date_trunc('year', started_at AT TIME ZONE 'UTC')::VARCHAR, count(ttft_ms), min(completion_tokens - token_events - 1000) < 0
        FROM '{parquet}' WHERE "end" = 'complete' GROUP BY ALL"""
    year = datetime.now(timezone.utc).year
    assert duckdb.sql(query).fetchall() == [(f"{year}-01-01 00:00:00", 2, True)]
    codecs = duckdb.sql(f"SELECT DISTINCT compression FROM parquet_metadata('{parquet}')").fetchall()
    assert codecs == [("ZSTD",)]


def test_the_query_of_the_readme(tmp_path, monkeypatch):
    root = Path(__file__).resolve().parents[2]
    line = next(line for line in (root / "README.md").read_text().splitlines() if line.startswith("duckdb -c "))
    _, _, query = shlex.split(line)
    logs = [root / "tests/haproxy" / name for name in ("after.jsonl", "before.jsonl")]
    report(*logs, "--parquet", tmp_path / "requests.parquet")
    monkeypatch.chdir(tmp_path)
    expected = []
    for log, verdict in zip(logs, ("steady", "tick_burst")):
        ttfts = [json.loads(line)["ttft_ms"] for line in log.read_text().splitlines()]
        expected.append(("llama-3.1-8b", verdict, len(ttfts), pytest.approx(median(ttfts))))
    assert duckdb.sql(query).fetchall() == expected
