"""The Collector's settings: each is one of its component's, all parts are wired, and what it sends has a place in ClickHouse."""

import re
from pathlib import Path

import pytest
import yaml
from deploy import DEPLOY, MANIFESTS, documents, pod, tool

SCHEMA = Path(__file__).with_name("collector.schema.json")
CONFIG = DEPLOY / "collector.yaml"


def config() -> dict:
    [only] = documents(CONFIG)
    return only


def test_its_components_know_their_settings():
    tool("check-jsonschema", "--schemafile", SCHEMA, CONFIG)


def test_the_receiver_that_is_a_comment_is_good_too(tmp_path):
    """As whoever takes the marks of the comment away, and names it in the pipeline, has it."""
    lines = [re.sub(r"^  #   ", "    ", re.sub(r"^  #   (\w+:)$", r"  \1", line)) for line in CONFIG.read_text().splitlines()]
    changed = yaml.safe_load("\n".join(lines))
    assert set(changed["receivers"]) == {"otlp", "filelog"}
    assert changed["receivers"]["filelog"]["storage"] in changed["extensions"]
    changed["service"]["pipelines"]["logs"]["receivers"] = ["filelog"]
    path = tmp_path / "collector.yaml"
    path.write_text(yaml.safe_dump(changed))
    tool("check-jsonschema", "--schemafile", SCHEMA, path)


@pytest.mark.parametrize(
    "good, bad",
    [("logs_table_name", "logs_table"), ("flush_timeout: 5s", "flush_timeout: 5"), ("memory_limiter", "memory_limit"), ("    logs:", "    log:")],
)
def test_the_schema_finds_mistakes(tmp_path, good, bad):
    text = CONFIG.read_text()
    assert good in text
    path = tmp_path / "collector.yaml"
    path.write_text(text.replace(good, bad))
    with pytest.raises(AssertionError, match="Schema validation errors"):
        tool("check-jsonschema", "--schemafile", SCHEMA, path)


def test_its_parts_are_wired():
    parts = config()
    used = {"receivers": set(), "processors": set(), "exporters": set(), "extensions": set(parts["service"]["extensions"])}
    for pipeline in parts["service"]["pipelines"].values():
        for kind, names in pipeline.items():
            used[kind] |= set(names)
    for kind, names in used.items():
        assert set(parts[kind]) == names, kind
    for exporter in parts["exporters"].values():
        assert exporter["sending_queue"].get("storage", "file_storage") in parts["extensions"]


def test_records_have_a_table():
    records = config()["exporters"]["clickhouse/records"]
    assert records["create_schema"] is False
    assert f"CREATE TABLE IF NOT EXISTS {records['database']}.{records['logs_table_name']}\n" in (DEPLOY / "clickhouse/otlp.sql").read_text()


def test_every_dripline_sends_to_its_port():
    parts = config()
    port = parts["receivers"]["otlp"]["protocols"]["http"]["endpoint"].split(":")[1]
    [compose] = documents(DEPLOY / "compose.yaml")
    senders = [compose["services"]["dripline"]["environment"]["DRIPLINE_OTLP"]]
    for manifest in MANIFESTS:
        senders += [one["value"] for one in pod(manifest)[1]["env"] if one["name"] == "DRIPLINE_OTLP"]
    assert len(senders) == 3 and all(re.fullmatch(rf"http://otel-collector[.\w]*:{port}", sender) for sender in senders), senders


def test_compose_gives_it_what_it_asks_for():
    """Its variables, its file, and a volume for what it keeps."""
    [compose] = documents(DEPLOY / "compose.yaml")
    service = compose["services"]["otel-collector"]
    assert set(re.findall(r"\$\{env:(\w+)\}", CONFIG.read_text())) == set(service["environment"])
    places = dict(volume.split(":")[:2] for volume in service["volumes"])
    assert places["./collector.yaml"] == service["command"][service["command"].index("--config") + 1]
    assert places["collector"] == config()["extensions"]["file_storage"]["directory"]
