"""ClickHouse in this process (chDB), with the schema and the queries that `deploy/clickhouse` ships."""

import json
from pathlib import Path

from chdb.session import Session

SHIPPED = Path(__file__).resolve().parents[2] / "deploy/clickhouse"
# Everything, where a test does not say otherwise.
ALWAYS = {"since": "2026-01-01 00:00:00", "until": "2027-01-01 00:00:00"}


class ClickHouse:
    def __init__(self, folder: Path):
        self.session = Session(str(folder))
        self.run(shipped("schema.sql"))

    def run(self, sql: str, form: str = "JSONEachRow", **parameters) -> str:
        return self.session.query(sql, form, params=parameters).bytes().decode()

    def load(self, log: Path):
        """As the schema's head says, but that the file is read by the server."""
        self.run(f"INSERT INTO dripline.lines SELECT line FROM file('{log}', LineAsString, 'line String')")

    def page(self, name: str, settings: str = "", **parameters) -> list[dict]:
        """The rows of one of the shipped queries."""
        text = self.run(shipped(f"queries/{name}.sql") + settings, **{**ALWAYS, **parameters})
        return [json.loads(line) for line in text.splitlines()]

    def close(self):
        self.session.close()


def shipped(name: str) -> str:
    return (SHIPPED / name).read_text()
