"""A real Prometheus that scrapes a dripline, and what its tests ask of it."""

import json
import shutil
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path

from support import Process, free_port, until

ROOT = Path(__file__).resolve().parents[2]
SCRAPE_EVERY_S = 0.5


def promtool(*args, given: bytes = b"") -> str:
    """Runs Debian's promtool, which must find nothing wrong; what it printed."""
    done = subprocess.run(["promtool", *map(str, args)], input=given, capture_output=True, cwd=ROOT)
    printed = (done.stdout + done.stderr).decode()
    assert done.returncode == 0, printed
    return printed


def get(url: str, accept: str | None = None) -> tuple[str, str]:
    """The answer and its content type."""
    request = urllib.request.Request(url, headers={"accept": accept} if accept else {})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode(), answer.headers["content-type"]


class Prometheus:
    """Debian's Prometheus with a configuration and a folder of its own; no service."""

    def __init__(self, targets: list[str], folder: Path, **job):
        """Scrapes `targets`, with what else `job` says of it."""
        path = shutil.which("prometheus")
        if path is None:
            raise FileNotFoundError("prometheus is missing (`make setup`)")
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        config = folder / "prometheus.yml"
        every = f"{SCRAPE_EVERY_S * 1000:.0f}ms"
        config.write_text(
            f"""
            global: {{ scrape_interval: {every}, scrape_timeout: {every}, evaluation_interval: {every} }}
            rule_files: ["{ROOT}/config/alerts.yml"]
            scrape_configs:
              - {json.dumps({"job_name": "dripline", "static_configs": [{"targets": targets}]} | job)}
            """
        )
        options = [
            f"--config.file={config}",
            f"--storage.tsdb.path={folder}/data",
            f"--web.listen-address=127.0.0.1:{self.port}",
            "--enable-feature=exemplar-storage",
        ]
        self.process = Process("prometheus", [path, *options], folder)
        self.process.wait_for_port(self.port)
        until(self.is_ready, 15, "Prometheus to be ready")

    def is_ready(self) -> bool:
        try:
            return "Ready" in get(f"{self.url}/-/ready")[0]
        except OSError:
            return False

    def api(self, path: str, **query):
        """The data of an answer that says it is good: a query with a mistake raises."""
        answer, _ = get(f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(query)}")
        answer = json.loads(answer)
        assert answer["status"] == "success", answer
        return answer["data"]

    def query(self, expression: str) -> list[tuple[dict, float]]:
        """The series of an expression now: labels and value."""
        found = self.api("query", query=expression)["result"]
        return [(series["metric"], float(series["value"][1])) for series in found]

    def one(self, expression: str) -> float:
        """The value of an expression with one series or none: 0 then."""
        found = self.query(expression)
        assert len(found) <= 1, (expression, found)
        return found[0][1] if found else 0.0

    def stop(self):
        self.process.stop()
