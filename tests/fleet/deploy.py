"""What the tests of `deploy/` share: its files, and the tools that judge them."""

import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))


def tool(name, *arguments) -> str:
    """What a tool of .venv or of the system says; it must like what it is shown."""
    path = Path(sys.executable).parent / name
    ran = subprocess.run([path if path.exists() else name, *arguments], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout + ran.stderr


def documents(path: Path) -> list[dict]:
    return list(yaml.safe_load_all(path.read_text()))


def pod(manifest: Path) -> tuple[dict, dict]:
    """The pod's template, and dripline's container in it."""
    [template] = [one["spec"]["template"] for one in documents(manifest) if one["kind"] == "Deployment"]
    containers = template["spec"]["containers"] + template["spec"].get("initContainers", [])
    [dripline] = [container for container in containers if container["name"] == "dripline"]
    return template, dripline
