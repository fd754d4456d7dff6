"""Health checks and scrapes of `deploy/`: each asks where the admin side is, for what it answers, with the token if it needs one."""

import re
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml
from deploy import DEPLOY, ROOT, documents, pod
from scraper import Prometheus, promtool
from support import Proxy, until

SIDECAR, GATEWAY = (DEPLOY / f"kubernetes/{name}.yaml" for name in ("sidecar", "gateway"))
PROMETHEUS = DEPLOY / "prometheus.yaml"
TOKEN = "0123456789abcdef0123456789abcdef"
# Where the admin side is when nobody says otherwise.
[DEFAULT_PORT] = re.findall(r'^# admin = "127\.0\.0\.1:(\d+)"', (ROOT / "config/example.toml").read_text(), re.MULTILINE)


def probes(container: dict) -> list[tuple[str, str]]:
    """Port and path of each."""
    ports = {port["name"]: str(port["containerPort"]) for port in container["ports"]}
    found = []
    for probe in (container[name] for name in container if name.endswith("Probe")):
        if "httpGet" in probe:
            found.append((ports[probe["httpGet"]["port"]], probe["httpGet"]["path"]))
        else:
            found += urls(" ".join(probe["exec"]["command"]))
    return found


def urls(text: str) -> list[tuple[str, str]]:
    return re.findall(r"http://127\.0\.0\.1:(\d+)(/\w+)", text)


def checks() -> dict[str, list[tuple[str, str]]]:
    return {
        "Dockerfile": urls((DEPLOY / "Dockerfile").read_text()),
        "sidecar": probes(pod(SIDECAR)[1]),
        "gateway": probes(pod(GATEWAY)[1]),
    }


def test_checks_go_where_the_admin_side_is():
    template, gateway = pod(GATEWAY)
    [address] = [one["value"] for one in gateway["env"] if one["name"] == "DRIPLINE_ADMIN"]
    port = address.split(":")[1]
    assert {"name": "admin", "containerPort": int(port)} in gateway["ports"]
    assert template["metadata"]["annotations"] == {"prometheus.io/scrape": "true", "prometheus.io/port": port}
    _, sidecar = pod(SIDECAR)
    assert "DRIPLINE_ADMIN" not in {one["name"] for one in sidecar["env"]}
    ports = {name: {port for port, _ in found} for name, found in checks().items()}
    assert ports == {"Dockerfile": {DEFAULT_PORT}, "sidecar": {DEFAULT_PORT}, "gateway": {port}}


@pytest.fixture
def guarded(tmp_path):
    """The address of an admin side with a token, as the gateway's."""
    proxy = Proxy("http://127.0.0.1:9", tmp_path, "--admin", "127.0.0.1:0", "--admin-token", TOKEN)
    yield proxy.admin
    proxy.stop()


def ask(admin: str, path: str, **fields) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(urllib.request.Request(f"http://{admin}{path}", headers=fields), timeout=10) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def test_checks_are_answered_without_a_token(guarded):
    paths = {name: {path for _, path in found} for name, found in checks().items()}
    assert paths == {"Dockerfile": {"/healthz"}, "sidecar": {"/healthz", "/readyz"}, "gateway": {"/healthz", "/readyz"}}
    for path in set.union(*paths.values()):
        assert ask(guarded, path)[0] == 200, path


def test_prometheus_takes_its_settings(tmp_path):
    """As they are, but that its files are here, and without the part for Kubernetes, which Debian's Prometheus has not."""
    text = PROMETHEUS.read_text().replace("/etc/prometheus/dripline-admin/token", str(tmp_path / "token"))
    [settings] = yaml.safe_load_all(text.replace("/etc/prometheus/dripline-alerts.yml", str(ROOT / "config/alerts.yml")))
    [job] = settings["scrape_configs"]
    assert set(job.pop("kubernetes_sd_configs")[0]) == {"role", "selectors"}
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(settings))
    said = promtool("check", "config", tmp_path / "prometheus.yml")
    assert "1 rule files found" in said and re.search(r"SUCCESS: [1-9]\d* rules found", said), said


def test_prometheus_scrapes_the_admin_port_of_pods_with_the_token(guarded, tmp_path):
    """The job as it is, but that pods are named to it, as Kubernetes would, and the token is in a file of this test's."""
    template, gateway = pod(GATEWAY)
    [[job]] = [one["scrape_configs"] for one in documents(PROMETHEUS)]
    [pods] = job.pop("kubernetes_sd_configs")
    [[key, value]] = template["metadata"]["labels"].items()
    assert pods == {"role": "pod", "selectors": [{"role": "pod", "label": f"{key}={value}"}]}
    token = tmp_path / "token"
    token.write_text(TOKEN + "\n")
    secret = Path(job["authorization"].pop("credentials_file"))
    [asked] = [one["valueFrom"]["secretKeyRef"] for one in gateway["env"] if one["name"] == "DRIPLINE_ADMIN_TOKEN"]
    assert asked == {"name": secret.parent.name, "key": secret.name}
    job["authorization"]["credentials_file"] = str(token)

    annotations = {f"__meta_kubernetes_pod_annotation_{re.sub(r'[^a-z]', '_', key)}": value for key, value in template["metadata"]["annotations"].items()}
    labels = annotations | {"__meta_kubernetes_namespace": "models"}
    # a target for each port of each pod; of another pod that is called alike nothing says that it wants to be scraped
    ours = [labels | {"__meta_kubernetes_pod_name": "pod-1", "__meta_kubernetes_pod_container_port_name": port["name"]} for port in gateway["ports"]]
    other = {"__meta_kubernetes_pod_name": "pod-2", "__meta_kubernetes_pod_container_port_name": "admin"}
    job["static_configs"] = [{"targets": [guarded], "labels": labels} for labels in [*ours, other]]
    folder = tmp_path / "prometheus"
    folder.mkdir()
    prometheus = Prometheus([], folder, **job)
    try:
        found = until(lambda: prometheus.query("dripline_build_info"), 20, "a scrape")
        assert [(labels["instance"], labels["namespace"]) for labels, _ in found] == [("pod-1", "models")]
        assert prometheus.query("up") == [({"__name__": "up", "job": "dripline", "instance": "pod-1", "namespace": "models"}, 1.0)]
    finally:
        prometheus.stop()


def test_metrics_are_for_those_with_the_token(guarded):
    assert ask(guarded, "/metrics")[0] == 401
    assert ask(guarded, "/metrics", Authorization=f"Bearer {TOKEN}")[0] == 200
