"""The metrics as a real Prometheus reads them: their numbers against the log, the dashboard, the rules."""

import json
import math
import re
import time
from collections import Counter
from itertools import pairwise

import httpx
import openai
import pytest
from scraper import ROOT, SCRAPE_EVERY_S, Prometheus, get, promtool
from streams import chat, client, stream_chat
from support import until

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
OPEN_METRICS = "application/openmetrics-text;version=1.0.0"
N_SENT = 8


# Many events in one read, and events whose bytes come with two.
A_BUFFER_ON_THE_WAY = """
about = "a hop with a 1 KiB buffer"
hold = { bytes = 1024 }
steps = [{ write = "role" }, { write = "word", times = 40, every = "5ms" }, { each = ["finish", "usage", "done"] }]
"""


@pytest.fixture
def scraped(llmock, start, tmp_path):
    """A proxy in front of llmock, one in front of a server that buffers, and a Prometheus that scrapes both."""
    proxies = [start.proxy(url, "--timeline") for url in (llmock.url, start.simulated(A_BUFFER_ON_THE_WAY).url)]
    folder = tmp_path / "prometheus"
    folder.mkdir()
    prometheus = Prometheus([proxy.admin for proxy in proxies], folder)
    yield *proxies, prometheus
    prometheus.stop()


def send(proxy, llmock, model: str):
    """Eight requests: streams, one of them traced and one stalled, a whole answer, an error, a client that leaves."""
    sdk = client(proxy.url)
    for _ in range(3):
        stream_chat(sdk, model, stream_options={"include_usage": True})
    stream_chat(sdk, model, extra_headers={"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"})
    sdk.chat.completions.create(**chat(model) | {"stream": False})
    llmock.script(f"{model}-stalls", "reply", text="word " * 30)
    llmock.script(f"{model}-stalls", "stream_fault", kind="stall", after_chunks=6, stall_seconds=0.6)
    stream_chat(sdk, f"{model}-stalls")
    llmock.script(f"{model}-fails", "fail", status=503)
    with pytest.raises(openai.APIStatusError):
        stream_chat(sdk, f"{model}-fails")
    stream = sdk.chat.completions.create(**chat(model, "word " * 400))
    next(iter(stream))
    stream.close()
    httpx.get(f"{proxy.url}/v1/models")  # no generation: it leaves no record, and is not counted


def wait_for_scrape(prometheus, requests: int):
    until(lambda: prometheus.one("sum(dripline_requests_total)") == requests, 15, f"{requests} requests in Prometheus")


def test_the_numbers_are_those_of_the_log(llmock, scraped, model):
    proxy, held, prometheus = scraped
    send(proxy, llmock, model)
    for _ in range(2):
        stream_chat(client(held.url), f"{model}-held")
    records = proxy.wait_for_records(N_SENT) + held.wait_for_records(2)
    wait_for_scrape(prometheus, N_SENT + 2)

    # What is counted, by its labels.
    served = {model, f"{model}-stalls", f"{model}-held"}

    def name(record):
        return record["request"]["model"] if record["request"]["model"] in served else "other"

    ends = Counter((name(r), r["end"]) for r in records)
    assert ("other", "http_error") in ends and (model, "client_gone") in ends, ends
    assert counted(prometheus, "sum by (model, end) (dripline_requests_total)", "model", "end") == ends
    verdicts = Counter((r["verdict"]["timing"], r["verdict"]["where"]) for r in records if r["verdict"])
    assert counted(prometheus, "sum by (timing, where) (dripline_verdicts_total)", "timing", "where") == verdicts
    errors = Counter("503" if r["end"] == "http_error" else r["end"] for r in records if r["end"] != "complete")
    operations = "sum by (error_type) (gen_ai_client_operation_duration_seconds_count{error_type!=''})"
    assert counted(prometheus, operations, "error_type") == Counter({(kind,): n for kind, n in errors.items()})
    for metric, key in (("prompt", "prompt"), ("completion", "completion")):
        tokens = sum(r["tokens"][key] or 0 for r in records)
        assert tokens > 0 and prometheus.one(f"sum(dripline_{metric}_tokens_total)") == tokens

    # Histograms of one value for each request.
    for metric, values in {
        "gen_ai_client_operation_duration_seconds": [r["at"]["end_ms"] for r in records],
        "gen_ai_client_operation_time_to_first_chunk_seconds": [r["ttft_ms"] for r in records],
        "dripline_ttft_seconds": [r["ttft_ms"] for r in records],
        "dripline_ttfa_seconds": [r["ttfa_ms"] for r in records],
        "dripline_longest_token_gap_seconds": [r["gaps"]["token"]["max_ms"] for r in records],
    }.items():
        check_histogram(prometheus, metric, [round(v * 1e3) for v in values if v is not None], 1e6)

    # Histograms of every gap, which the rows of the timeline give one by one.
    rows = [r["timeline"] for r in records]
    chunks = [[arrived for arrived, *_ in stream] for stream in rows]
    events = [[row[0] for row in stream for _ in range(row[3])] for stream in rows]
    tokens = [[row[0] for row in stream for _ in range(row[4])] for stream in rows]
    gaps = [[b - a for a, b in pairwise(stream)] for stream in tokens]
    all_gaps = [gap for stream in gaps for gap in stream]
    assert len(all_gaps) > 100 and max(all_gaps) > 500_000
    check_histogram(prometheus, "gen_ai_client_operation_time_per_output_chunk_seconds", all_gaps, 1e6)
    check_histogram(prometheus, "dripline_token_gap_seconds", all_gaps, 1e6)
    seen = set()
    for metric, streams in (("event", events), ("chunk", chunks)):
        these = [b - a for stream in streams for a, b in pairwise(stream)]
        check_histogram(prometheus, f"dripline_{metric}_gap_seconds", these, 1e6)
        seen.add(len(these))
    assert len(seen | {len(all_gaps)}) == 3, "the three must not be mixed up"
    crowds = [row[3] for r in records if r["counts"]["events"] is not None for row in r["timeline"]]
    check_histogram(prometheus, "dripline_events_per_chunk", crowds, 1)
    assert prometheus.one("sum(dripline_stalls_total)") == sum(map(stalls, gaps)) >= 1
    flushed = sum(row[1] is not None for stream in rows for row in stream)
    assert prometheus.one("sum(dripline_hold_seconds_count)") == flushed

    # What is asked at the moment of the scrape.
    assert prometheus.one("sum(dripline_requests_in_flight)") == 0
    for sink in ("log", "terminal", "metrics"):
        written = f'sum(dripline_records_written_total{{sink="{sink}"}})'
        until(lambda: prometheus.one(written) == len(records), 5, f"{len(records)} of {written}")
        assert prometheus.one(f'sum(dripline_records_dropped_total{{sink="{sink}"}})') == 0

    # An exemplar leads to the trace and to the record.
    (traced,) = (r for r in records if r["request"]["trace_id"])
    window = {"start": time.time() - 600, "end": time.time() + 600}
    found = prometheus.api("query_exemplars", query="dripline_ttft_seconds_bucket", **window)
    labels = [exemplar["labels"] for series in found for exemplar in series["exemplars"]]
    assert {"trace_id": TRACE, "record_id": traced["id"]} in labels, labels
    assert {exemplar["record_id"] for exemplar in labels} <= {r["id"] for r in records}


def counted(prometheus, expression: str, *labels: str) -> Counter:
    """The series of an expression, by the values of these labels; a label that is not there is None."""
    series = prometheus.query(expression)
    return Counter({tuple(found.get(label) for label in labels): int(n) for found, n in series})


def check_histogram(prometheus, metric: str, values: list[int], scale: float):
    """Each bucket, the number and the sum against the exact values."""
    assert values, metric
    buckets = prometheus.query(f"sum by (le) ({metric}_bucket)")
    assert len(buckets) > 8, metric
    for labels, n in buckets:
        bound = float(labels["le"])
        inside = [v for v in values if math.isinf(bound) or v <= round(bound * scale)]
        assert n == len(inside), (metric, bound, n, len(inside))
    assert prometheus.one(f"sum({metric}_count)") == len(values)
    assert prometheus.one(f"sum({metric}_sum)") == pytest.approx(sum(values) / scale, rel=1e-9, abs=1e-9)


def stalls(gaps: list[int]) -> int:
    """How many of a stream's gaps (µs) are stalls, by the record's rule."""
    if not gaps:
        return 0
    p90 = sorted(gaps)[(90 * (len(gaps) - 1) + 50) // 100]
    return sum(gap >= max(250_000, 5 * p90) for gap in gaps)


def test_the_dashboard_and_the_rules_work_on_it(llmock, scraped, model):
    """Prometheus takes every query of the dashboard and of the README; those of dripline's metrics show something; the rules
    are well."""
    proxy, _, prometheus = scraped
    send(proxy, llmock, model)
    wait_for_scrape(prometheus, N_SENT)
    send(proxy, llmock, model)  # a rate needs a series before its rise
    wait_for_scrape(prometheus, 2 * N_SENT)
    time.sleep(2 * SCRAPE_EVERY_S)

    dashboard = json.loads((ROOT / "config/grafana-dashboard.json").read_text())
    for variable in dashboard["templating"]["list"]:
        if found := re.fullmatch(r"label_values\((.*), (\w+)\)", variable.get("definition", "")):
            selector, label = filled(found[1]), found[2]
            assert any(label in labels for labels in prometheus.api("series", **{"match[]": selector})), variable
    n = 0
    for panel in dashboard["panels"]:
        assert panel["title"], panel
        for target in panel.get("targets", []):
            n += 1
            shown = prometheus.query(filled(target["expr"]))
            assert shown or "vllm:" in target["expr"], (panel["title"], target["expr"])
    assert n > 40

    section = (ROOT / "README.md").read_text().split("\n## Metrics\n")[1].split("\n## ")[0]
    asked = re.findall(r"\| `((?:sum|histogram_quantile).*)` \|", section)
    assert len(asked) == 5
    for expression in asked:
        assert prometheus.query(expression), expression

    def rules_are_well():
        rules = [rule for group in prometheus.api("rules")["groups"] for rule in group["rules"]]
        return len(rules) >= 8 and all(rule["health"] == "ok" for rule in rules)

    until(rules_are_well, 15, "the alert rules to be evaluated")


def filled(expression: str) -> str:
    """A query of the dashboard as Grafana sends it, with everything chosen."""
    expression = expression.replace("$__rate_interval", "60s").replace("$upstream", ".*").replace("$model", ".*")
    assert "$" not in expression, expression
    return expression


def test_promtool_finds_nothing_wrong(llmock, start, model):
    proxy = start.proxy(llmock.url)
    send(proxy, llmock, model)
    proxy.wait_for_records(N_SENT)
    page, kind = get(f"http://{proxy.admin}/metrics")
    assert kind == "text/plain; version=0.0.4; charset=utf-8"
    assert promtool("check", "metrics", given=page.encode()) == ""
    page, kind = get(f"http://{proxy.admin}/metrics", OPEN_METRICS)
    assert kind == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    assert page.endswith("# EOF\n") and f'trace_id="{TRACE}"' in page


def test_the_rules_fire_when_they_should():
    assert "SUCCESS: 8 rules found" in promtool("check", "rules", "config/alerts.yml")
    assert "SUCCESS" in promtool("test", "rules", "tests/metrics/alerts_test.yml")
