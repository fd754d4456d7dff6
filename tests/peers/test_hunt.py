"""README's flush hunt for real: probe, run, report, fix, compare; and the three commands on logs of all kinds of traffic."""

import csv
import io
import json
import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import openai
import pytest
from streams import chat, client, stream_chat
from support import dripline_binary

HUNT = Path(__file__).parents[1] / "haproxy"
# each asks a few times, so that they can be compared; several at once, since an answer takes more than two seconds
APPS, QUESTIONS = 6, 2
MODEL = "llama-3.1-8b"


def dripline(*arguments, code=0, folder=None) -> str:
    command = [str(part) for part in (dripline_binary(), *arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=folder)
    assert done.returncode == code, f"{command} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def run_apps(url: str):
    def run(_):
        env = os.environ | {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "none"}
        command = [sys.executable, HUNT / "app.py", str(QUESTIONS)]
        return subprocess.run(command, env=env, check=True, capture_output=True, text=True, timeout=120).stdout

    with ThreadPoolExecutor(APPS) as pool:
        for printed in pool.map(run, range(APPS)):
            assert len(printed.splitlines()) == QUESTIONS


def traffic_through(hop, start, label) -> Path:
    """The log of a proxy between the apps and the hop."""
    proxy = start.proxy(hop.url, "--label", label, "--timeline")
    run_apps(proxy.url)
    assert len(proxy.finish()) == APPS * QUESTIONS
    hop.stop()
    return proxy.log


def test_a_flush_hunt(start):
    server = start.simulated((HUNT / "chat.toml").read_text())
    hop = start.haproxy(server.url)

    # 1. probe: the hop, not the server
    rows = dripline("probe", server.url, "--via", hop.url, "--model", MODEL, "--runs", 1, "--json").splitlines()
    warm = [row for row in map(json.loads, rows) if not row["cold"]]
    timing = {side: {r["record"]["verdict"]["timing"] for r in warm if r["side"] == side} for side in ("direct", "through")}
    assert timing["direct"] == {"steady"}
    assert "steady" not in timing["through"]

    # 2. and 3. run, report: the app has it too, and the hint is the one that helps
    before = traffic_through(hop, start, "haproxy as it comes")
    summary = json.loads(dripline("report", before, "--json"))
    assert (summary["records"], summary["failed"]) == (APPS * QUESTIONS, 0)
    ids = [row["id"] for row in csv.DictReader(io.StringIO(dripline("report", before, "--csv")))]
    told = " ".join(dripline("report", before, "--explain", ids[-1]).split())
    assert "option http-no-delay" in told

    # 4. and 5. fix, compare
    after = traffic_through(start.haproxy(server.url, "option http-no-delay"), start, "option http-no-delay")
    found = json.loads(dripline("compare", before, after, "--json"))["figures"]
    for figure in ("ttft_p50", "gap_p99_p50", "verdict_steady"):
        assert found[figure]["differs"] == "clear", (figure, found[figure])
    assert found["ttft_p50"]["difference"] < 0 and found["gap_p99_p50"]["difference"] < 0
    assert found["verdict_steady"]["after"] == 1

    guards = ("--fail-if", "ttft_p50>+50ms", "--fail-if", "gap_p99>+20ms")
    dripline("compare", before, after, *guards)
    dripline("compare", after, before, *guards, code=3)


def nearest_rank(values: list[float], share: float) -> float:
    return sorted(values)[max(math.ceil(share * len(values)), 1) - 1]


@pytest.fixture
def logs(llmock, start, model, tmp_path):
    """What the proxy wrote of streams, a whole reply and an error, and what a probe wrote of its runs."""
    proxy = start.proxy(llmock.url, "--timeline", "--label", "through")
    sdk = client(proxy.url)
    for _ in range(4):
        stream_chat(sdk, model, stream_options={"include_usage": True})
    sdk.chat.completions.create(**chat(model) | {"stream": False})
    with pytest.raises(openai.NotFoundError):
        sdk.post("/nowhere", body={}, cast_to=object)
    proxy.finish()
    probed = tmp_path / "probe.jsonl"
    ask = ("probe", llmock.url, chat(model)["messages"][0]["content"], "--model", model, "--runs", 4)
    probed.write_text(dripline(*ask, "--json", "--timeline", "--label", "probed"))
    return proxy.log, probed


def test_reports_of_real_traffic_say_what_the_records_say(logs, tmp_path):
    proxied = [json.loads(line) for line in logs[0].read_text().splitlines()]
    probed = [json.loads(line)["record"] for line in logs[1].read_text().splitlines()]
    records = proxied + probed
    streams = [r for r in records if r["end"] == "complete" and r["ttft_ms"] is not None]
    assert (len(records), len(streams)) == (11, 9)

    summary = json.loads(dripline("report", *logs, "--json", "--by", "label"))
    assert summary["records"] == len(records)
    assert (summary["completed"], summary["failed"]) == (7, 1), "cold ones apart"
    warm = [r["ttft_ms"] for r in streams if not r["load"]["cold"]]
    for key, share in (("p50_ms", 0.5), ("p95_ms", 0.95), ("max_ms", 1)):
        assert summary["warm"]["ttft"][key] == pytest.approx(nearest_rank(warm, share), abs=0.001)

    assert len(list(csv.reader(io.StringIO(dripline("report", *logs, "--csv"))))) == 1 + len(records)
    assert len(dripline("report", *logs, "--list").splitlines()) >= 1 + len(records)
    for r in records:
        assert r["id"] in dripline("report", *logs, "--explain", r["id"])

    files = {form: tmp_path / f"all.{form}" for form in ("html", "svg", "trace", "parquet")}
    for form, file in files.items():
        dripline("report", *logs, f"--{form}", file)
    assert files["html"].read_text().count("<svg") >= 5
    assert {r["id"] for r in records} == set(ids_in(files["trace"]))


def ids_in(trace: Path):
    for event in json.loads(trace.read_text())["traceEvents"]:
        if found := event.get("args", {}).get("id"):
            yield found


def test_a_proxy_s_log_and_a_probe_s_can_be_compared(logs):
    compared = json.loads(dripline("compare", *logs, "--json"))
    assert [compared[run]["label"] for run in ("before", "after")] == ["through", "probed"]
    assert [compared[run]["warm"] + compared[run]["cold"] for run in ("before", "after")] == [4, 5]
    assert compared["figures"]["gap_p99_p50"]["differs"] in ("no", "too_few", "perhaps")
    assert "| " in dripline("compare", *logs, "--markdown")
