"""The other files of `deploy/`, as far as they can be judged without Docker and Kubernetes."""

import json
import re
import shutil

import pytest
from deploy import DEPLOY, MANIFESTS, ROOT, documents, pod, tool
from support import Process, dripline_binary

DOCKERFILE = (DEPLOY / "Dockerfile").read_text()


@pytest.mark.parametrize("version", ["1.30", "1.37"])  # from the first that knows `sleep`
@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_kubernetes_takes_it(path, version):
    said = tool("kubernetes-validate", "--strict", "-k", version, path)
    assert said.count("passed") == len(documents(path)), said


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_objects_fit_each_other(path):
    template, dripline = pod(path)
    containers = template["spec"]["containers"] + template["spec"].get("initContainers", [])
    ports = {port["name"]: port["containerPort"] for container in containers for port in container.get("ports", [])}
    for one in documents(path):
        selector = one["spec"]["selector"]
        assert selector.get("matchLabels", selector) == template["metadata"]["labels"], one["kind"]
    [service] = [one for one in documents(path) if one["kind"] == "Service"]
    assert {port["targetPort"] for port in service["spec"]["ports"]} == {"http"}
    assert ports["http"] == int(image_environment()["DRIPLINE_LISTEN"].split(":")[1])
    for probe in (dripline[name]["httpGet"]["port"] for name in dripline if name.endswith("Probe") and "httpGet" in dripline[name]):
        assert probe in ports

    environment = {one["name"]: one.get("value") for one in dripline["env"]}
    drain = {"5m": 300, None: 30}[environment.get("DRIPLINE_DRAIN")]
    pauses = [container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0) for container in containers]
    assert template["spec"]["terminationGracePeriodSeconds"] > drain + max(pauses)


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_dripline_may_do_nothing_but_its_work(path):
    template, dripline = pod(path)
    assert template["spec"]["automountServiceAccountToken"] is False
    assert dripline["securityContext"] == {
        "runAsNonRoot": True,
        "readOnlyRootFilesystem": True,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    # only of a user by number Kubernetes knows that it is not root
    [user] = re.findall(r"^USER (\d+):\d+$", DOCKERFILE.split("FROM ")[-1], re.MULTILINE)
    assert int(user) > 0


def test_compose_takes_it():
    tool("check-jsonschema", "--builtin-schema", "vendor.compose-spec", DEPLOY / "compose.yaml")
    [compose] = documents(DEPLOY / "compose.yaml")
    for service in compose["services"].values():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert source in compose["volumes"] or (DEPLOY / source).exists(), volume
        assert set(service.get("depends_on", {})) <= set(compose["services"])


def test_the_image_is_built_of_what_is_there(tmp_path):
    """Its linter likes the Dockerfile, and cargo finds all parts of the package in what is copied."""
    tool("hadolint", DEPLOY / "Dockerfile")
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    sources = [source for line in copied for source in line.split()]
    allowed = (DEPLOY / "Dockerfile.dockerignore").read_text().split()
    assert allowed == ["*", *(f"!{source}" for source in sources)]
    for source in sources:
        copy = shutil.copytree if (ROOT / source).is_dir() else shutil.copy
        copy(ROOT / source, tmp_path / source)
    manifest = tool("cargo", "metadata", "--locked", "--no-deps", "--format-version=1", "--manifest-path", tmp_path / "Cargo.toml")
    [package] = json.loads(manifest)["packages"]
    targets = package["targets"]
    assert {(target["name"], *target["kind"]) for target in targets} >= {("dripline", "bin"), ("relay", "bench")}
    assert f"FROM rust:{package['rust_version']}-" in DOCKERFILE
    for path in (tmp_path / "src").rglob("*.rs"):
        for name in re.findall(r'include_(?:str|bytes)!\("([^"]+)"\)', path.read_text()):
            assert (path.parent / name).exists(), f"{path} includes {name}"


def image_environment() -> dict[str, str]:
    [line] = re.findall(r"^ENV (.+)$", DOCKERFILE, re.MULTILINE)
    return dict(pair.split("=", 1) for pair in line.split())


def compose_environment() -> dict[str, str]:
    [compose] = documents(DEPLOY / "compose.yaml")
    given = compose["services"]["dripline"]["environment"]
    return {name: re.sub(r"\$\{\w+:-(.*)\}", r"\1", value) for name, value in given.items()}


def pod_environment(name: str) -> dict[str, str]:
    _, dripline = pod(DEPLOY / f"kubernetes/{name}.yaml")
    return {one["name"]: one.get("value", "from-elsewhere-0123456789") for one in dripline["env"]}


@pytest.mark.parametrize(
    "given",
    [lambda: {"DRIPLINE_UPSTREAM": "http://127.0.0.1:9"}, compose_environment, lambda: pod_environment("sidecar"), lambda: pod_environment("gateway")],
    ids=["image", "compose", "sidecar", "gateway"],
)
def test_dripline_starts_with_what_its_container_says(given, tmp_path):
    """But for its ports, which are any here."""
    environment = {"DRIPLINE_ADMIN": "127.0.0.1:8090", **image_environment(), **given()}
    for name in ("DRIPLINE_LISTEN", "DRIPLINE_ADMIN"):
        environment[name] = re.sub(r":\d+$", ":0", environment[name])
    [command] = re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    process = Process("dripline", ["env", *(f"{name}={value}" for name, value in environment.items()), dripline_binary(), *json.loads(command)], tmp_path)
    process.wait_for_line(r"listening on +http://")
    assert process.stop() == 0 and "not a setting" not in process.output(), process.output()


def test_settings_are_dripline_s_own():
    known = set(re.findall(r"DRIPLINE_\w+", tool(str(dripline_binary()), "proxy", "--help")))
    files = [*DEPLOY.glob("*.yaml"), *MANIFESTS, DEPLOY / "Dockerfile", *(DEPLOY / "systemd").iterdir()]
    named = {name for path in files for name in re.findall(r"DRIPLINE_\w+", path.read_text())}
    assert {"DRIPLINE_UPSTREAM", "DRIPLINE_LOG"} <= named
    assert named <= known


def test_every_query_is_on_the_page_and_in_a_test():
    queries = {path.stem for path in (DEPLOY / "clickhouse/queries").glob("*.sql")}
    page = (DEPLOY / "README.md").read_text()
    rows = re.findall(r"^\| (`[^|]+) \|.*\|$", page.split("## Asking")[1], re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == queries
    tests = "".join(path.read_text() for path in (ROOT / "tests/fleet").glob("test_*.py"))
    assert set(re.findall(r'\.page\("(\w+)"', tests)) | set(re.findall(r"queries/(\w+)\.sql", tests)) >= queries
