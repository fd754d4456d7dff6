"""Starts and ends what stands in a stream's way: the emitter, the programs of `hops.toml`, and one dripline for each hop."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HERE = Path(__file__).resolve().parent
READY_WITHIN_S = 30


def hop_table() -> dict:
    with open(HERE / "hops.toml", "rb") as file:
        return tomllib.load(file)


def dripline_binary() -> Path:
    binary = (ROOT / os.environ.get("DRIPLINE_BIN", "target/release/dripline")).resolve()
    if not binary.is_file():
        raise FileNotFoundError(f"dripline is not built: no {binary} (`make build`, or set DRIPLINE_BIN)")
    return binary


def program_path(name: str) -> str:
    """Debian keeps servers in /usr/sbin, which is not on every user's PATH; pip's are beside our Python."""
    places = f"{Path(sys.executable).parent}:{os.environ['PATH']}:/usr/sbin:/usr/local/sbin"
    found = shutil.which(name, path=places)
    if found is None:
        raise FileNotFoundError(f"{name} is missing (`scripts/setup.sh calibrate`)")
    return found


def free_ports(n: int) -> list[int]:
    """Ports that nobody listens on now, all different."""
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def accepts(port: int) -> bool:
    with closing(socket.socket()) as s:
        s.settimeout(0.2)
        return s.connect_ex(("127.0.0.1", port)) == 0


class Program:
    """A child whose output goes to a file in `folder`."""

    def __init__(self, name: str, command: list, folder: Path, ports: list[int]):
        self.name = name
        self.output = folder / f"{name}.out"
        with open(self.output, "wb") as out:
            self.child = subprocess.Popen(
                [str(part) for part in command],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                cwd=ROOT,
                env={"HOME": str(folder), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
            )
        self.ports = ports

    def wait_until_ready(self):
        deadline = time.monotonic() + READY_WITHIN_S
        while not all(accepts(port) for port in self.ports):
            if self.child.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"{self.name} did not start:\n{self.output.read_text(errors='replace')}")
            time.sleep(0.05)

    def stop(self, within_s: float = 5):
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)
            try:
                self.child.wait(within_s)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()


class Rig:
    """All that a run needs, started: `port(hop)` is where a client of that hop's dripline connects."""

    def __init__(self, hops: list[dict], folder: Path):
        self.folder = folder
        self.started: list[Program] = []
        self.stamps = folder / "stamps.jsonl"
        table = hop_table()
        wanted = {hop["program"] for hop in hops if "program" in hop}
        # A program serves all its hops, also those that this run does not use: its configuration names them.
        served = [hop for hop in table["hop"] if hop.get("program") in wanted]
        ports = free_ports(1 + len(served) + len(hops))
        self.emitter_port = ports.pop()
        self.hop_ports = {hop["name"]: ports.pop() for hop in served}
        self.dripline_ports = {hop["name"]: ports.pop() for hop in hops}
        try:
            self._start("emitter", table["programs"]["emitter"], [self.emitter_port], [])
            for program in sorted(wanted):
                names = [hop["name"] for hop in served if hop["program"] == program]
                self._start(program, table["programs"][program], [self.hop_ports[name] for name in names], names)
            for program in self.started:
                program.wait_until_ready()
            driplines = [self._start_dripline(hop) for hop in hops]
            for program in driplines:
                program.wait_until_ready()
        except BaseException:
            self.stop()
            raise

    def port(self, hop: str) -> int:
        return self.dripline_ports[hop]

    def log(self, hop: str) -> Path:
        return self.folder / f"log-{hop}.jsonl"

    def _start(self, name: str, program: dict, ports: list[int], hop_names: list[str]):
        if "config" in program:
            text = (HERE / "hops" / program["config"]).read_text()
            (self.folder / program["config"]).write_text(self._fill(text))
        command = []
        for part in program["command"]:
            if part == "@PORTS@":
                command += [f"{hop}={self.hop_ports[hop]}" for hop in hop_names]
            else:
                command.append(self._fill(part))
        self.started.append(Program(name, command, self.folder, ports))

    def _fill(self, text: str) -> str:
        text = text.replace("@FOLDER@", str(self.folder)).replace("@HOPS@", str(HERE / "hops"))
        text = text.replace("@PYTHON@", sys.executable)
        text = text.replace("@UPSTREAM_PORT@", str(self.emitter_port))
        text = text.replace("@UPSTREAM@", f"http://127.0.0.1:{self.emitter_port}")
        for word, name in (("@NGINX@", "nginx"), ("@HAPROXY@", "haproxy"), ("@CADDY@", "caddy"), ("@ENVOY@", "envoy")):
            if word in text:
                text = text.replace(word, program_path(name))
        for hop, port in self.hop_ports.items():
            text = text.replace(f"@PORT:{hop}@", str(port))
        return text

    def _start_dripline(self, hop: dict) -> Program:
        name = hop["name"]
        upstream = self.hop_ports.get(name, self.emitter_port)
        listen = self.dripline_ports[name]
        command = [dripline_binary(), "proxy", "--upstream", f"http://127.0.0.1:{upstream}", "--listen", f"127.0.0.1:{listen}"]
        command += ["--timeline", "--log", self.log(name), "--admin", "off", "--quiet", "--instance", name, "--log-level", "warn"]
        program = Program(f"dripline-{name}", command, self.folder, [listen])
        self.started.append(program)
        return program

    def stop(self):
        """The driplines first: an ended one has written all its records."""
        for program in reversed(self.started):
            program.stop()
