"""What a real-peer test starts: llmock, dripline, nginx, and a server that keeps what it was sent.

Each is a process (or thread) of its own on a free port, and is ended by its own id. Nothing here measures time: a test takes
the figures from dripline's record and compares them with what its own client saw.
"""

import json
import os
import re
import shutil
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import closing
from pathlib import Path

# Planted in every request. `Proxy.finish` looks for them in everything that dripline wrote.
API_KEY = "sk-planted-5f1c9e7a"
SECRET_WORD = "xylograph"

CHUNK_DELAY_MS = 25
QUICK_CHUNK_DELAY_MS = 12  # where a test asks for many streams and little of their pace
READY_WITHIN_S = 30


def dripline_binary() -> Path:
    """The binary under test: `DRIPLINE_BIN`, else what `cargo build` made in this checkout."""
    root = Path(__file__).resolve().parents[2]
    binary = (root / os.environ.get("DRIPLINE_BIN", "target/debug/dripline")).resolve()
    if not binary.is_file():
        raise FileNotFoundError(f"dripline is not built: no {binary} (`make build`, or set DRIPLINE_BIN)")
    return binary


def nginx_binary() -> str:
    path = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")
    if path is None:
        raise FileNotFoundError("nginx is missing (`make setup`)")
    return path


def haproxy_binary() -> str:
    path = shutil.which("haproxy", path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")
    if path is None:
        raise FileNotFoundError("haproxy is missing (`make setup`)")
    return path


def free_port() -> int:
    """A port that nobody listens on now, for programs that cannot say which one they took."""
    with closing(socket.socket()) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


_TAKEN = []


def nobodys_port() -> int:
    """A port where nobody listens: it is taken until the tests are over, so nobody who asks for a free one gets it."""
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    _TAKEN.append(taken)
    return taken.getsockname()[1]


def until(condition, within_s: float, what: str):
    """Asks `condition` again and again until it gives something true, and returns that."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.02)
    raise TimeoutError(f"{what}: not within {within_s} s")


class Process:
    """A child whose output goes to files in `folder`."""

    def __init__(self, name: str, command: list, folder: Path):
        self.name = name
        self.stdout_file = folder / f"{name}.stdout"
        self.stderr_file = folder / f"{name}.stderr"
        with open(self.stdout_file, "wb") as out, open(self.stderr_file, "wb") as err:
            self.child = subprocess.Popen(
                [str(part) for part in command],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=folder,
                env={k: v for k, v in os.environ.items() if not k.startswith("DRIPLINE_")},
            )

    def output(self) -> str:
        return "".join(f.read_text(errors="replace") for f in (self.stdout_file, self.stderr_file))

    def wait_for_line(self, pattern: str) -> re.Match:
        return self._wait_until_ready(lambda: re.search(pattern, self.output()))

    def wait_for_port(self, port: int):
        self._wait_until_ready(lambda: accepts(port))

    def _wait_until_ready(self, is_ready):
        def ready_or_dead():
            return is_ready() or self.child.poll() is not None

        try:
            until(ready_or_dead, READY_WITHIN_S, f"{self.name} to be ready")
            if found := is_ready():
                return found
            raise RuntimeError(f"{self.name} ended with {self.child.returncode}")
        except Exception as error:
            self.stop()
            raise type(error)(f"{error}\n{self.output()}") from None

    def stop(self, with_signal=signal.SIGTERM, within_s: float = 10) -> int:
        """Asks it to end, waits, and returns its exit code (negative: it had to be killed, or died by a signal)."""
        if self.child.poll() is None:
            self.child.send_signal(with_signal)
            try:
                self.child.wait(within_s)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()
        return self.child.returncode


def accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 0.2).close()
        return True
    except OSError:
        return False


class Llmock:
    """The PyPI package `llmock`: an OpenAI-style server that echoes the prompt, one word per event."""

    def __init__(self, folder: Path, chunk_delay_ms: int = CHUNK_DELAY_MS):
        self.process = Process("llmock", self.command(chunk_delay_ms), folder)
        self.port = int(self.process.wait_for_line(r"running on http://127\.0\.0\.1:(\d+)")[1])
        self.url = f"http://127.0.0.1:{self.port}"

    def command(self, chunk_delay_ms: int) -> list:
        program = Path(sys.executable).parent / "llmock"
        options = ["--port", 0, "--response-style", "echo", "--stream-chunk-delay-ms", chunk_delay_ms]
        return [program, "serve", *options]

    def script(self, model: str, behavior: str, **settings):
        """Scripts the next requests that name `model`. Tests use a model name each, so they never meet."""
        match = {"model": model}
        self._admin("scenario", {"behaviors": [{"type": behavior, "match": match, "times": None, **settings}]})

    def served(self, model: str) -> list[dict]:
        """The server's own journal of the requests for `model` that have ended."""
        return [r for r in self._admin("requests")["requests"] if r["model"] == model]

    def _admin(self, path: str, body=None) -> dict:
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(f"{self.url}/_llmock/{path}", data, timeout=10) as answer:
            return json.load(answer)

    def stop(self):
        self.process.stop()


class AlteredLlmock(Llmock):
    """The same with what `altered.py` adds: compressed answers and errors inside a stream."""

    def __init__(self, folder: Path):
        super().__init__(folder, QUICK_CHUNK_DELAY_MS)

    def command(self, chunk_delay_ms: int) -> list:
        return [sys.executable, Path(__file__).with_name("altered.py"), chunk_delay_ms]


class Proxy:
    """`dripline proxy` in front of the server at `upstream`."""

    def __init__(self, upstream: str, folder: Path, *options):
        self.log = folder / "dripline.jsonl"
        command = [dripline_binary(), "proxy", "--upstream", upstream, "--listen", "127.0.0.1:0", "--log", self.log]
        if "--admin" not in options:
            command += ["--admin", "127.0.0.1:0"]
        self.process = Process("dripline", [*command, *options], folder)
        announced = self.process.wait_for_line(r"listening on +http://127\.0\.0\.1:(\d+)")
        self.port = int(announced[1])
        self.url = f"http://127.0.0.1:{self.port}"

    @property
    def admin(self) -> str:
        """Address and port of its admin side."""
        return self.process.wait_for_line(r"live +http://(127\.0\.0\.1:\d+)\b")[1]

    def records(self) -> list[dict]:
        text = self.log.read_text() if self.log.exists() else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def wait_for_records(self, n: int, within_s: float = 5) -> list[dict]:
        until(lambda: len(self.records()) >= n, within_s, f"{n} records in {self.records()}")
        return self.records()

    def finish(self) -> list[dict]:
        """Ends the proxy the polite way and returns all that it recorded: an ended proxy owes no record."""
        code = self.process.stop()
        assert code == 0, f"SIGTERM must end in exit code 0, not {code}\n{self.process.output()}"
        written = self.process.output() + self.log.read_text()
        for secret in (API_KEY, SECRET_WORD):
            assert secret not in written, f"{secret!r} was written by dripline"
        return self.records()

    def finish_with_one(self) -> dict:
        records = self.finish()
        assert len(records) == 1, records
        return records[0]

    def stop(self):
        self.process.stop()


class Simulated:
    """`dripline simulate` with a script."""

    def __init__(self, script: str, folder: Path):
        scenario = folder / "scenario.toml"
        scenario.write_text(script)
        command = [dripline_binary(), "simulate", "--listen", "127.0.0.1:0", "--scenario", scenario]
        self.process = Process("simulate", command, folder)
        self.url = self.process.wait_for_line(r"http://127\.0\.0\.1:\d+")[0]

    def stop(self):
        self.process.stop()


class Nginx:
    """Debian's nginx as it comes (its nginx.conf, with paths of its own): HTTP/1.0 to its upstream, buffering on."""

    def __init__(self, upstream: str, folder: Path, location: str = "", listen: str = ""):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        temp_paths = "".join(
            f"{kind}_temp_path {folder}/{kind}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        conf = folder / "nginx.conf"
        conf.write_text(
            f"""
            pid {folder}/nginx.pid;
            error_log stderr;
            worker_processes 1;
            daemon off;
            events {{ worker_connections 768; }}
            http {{
                sendfile on;
                tcp_nopush on;
                gzip on;
                access_log off;
                {temp_paths}
                server {{
                    listen 127.0.0.1:{self.port} {listen};
                    location / {{ proxy_pass {upstream}; {location} }}
                }}
            }}
            """
        )
        self.process = Process("nginx", [nginx_binary(), "-p", folder, "-e", "stderr", "-c", conf], folder)
        self.process.wait_for_port(self.port)

    def stop(self):
        self.process.stop(signal.SIGTERM)


class Haproxy:
    """Debian's HAProxy with the file of `tests/haproxy`, and more lines in its defaults."""

    def __init__(self, upstream: str, folder: Path, *defaults: str):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        conf = (Path(__file__).parents[1] / "haproxy/haproxy.cfg").read_text()
        for old, new in (
            ("127.0.0.1:8600", f"127.0.0.1:{self.port}"),
            ("127.0.0.1:8000", upstream.removeprefix("http://")),
            ("mode http\n", "".join(f"{line}\n    " for line in ("mode http", *defaults)).rstrip(" ")),
        ):
            assert old in conf
            conf = conf.replace(old, new)
        file = folder / "haproxy.cfg"
        file.write_text(conf)
        self.process = Process("haproxy", [haproxy_binary(), "-db", "-f", file], folder)
        self.process.wait_for_port(self.port)

    def stop(self):
        self.process.stop()


class Keeper:
    """A server that keeps each request as it came, byte for byte, and always answers with the same short stream."""

    BODY = b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[]}\n\ndata: [DONE]\n\n'
    HEAD = (
        b"HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nX-Request-Id: req_1\r\nserver: Keeper/1.0\r\n"
        b"Content-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\nopenai-processing-ms: 12\r\n"
        b"Set-Cookie: a=1; Path=/\r\nSet-Cookie: b=2\r\nx-ratelimit-remaining-requests: 59\r\nConnection: close\r\n\r\n"
    )

    def __init__(self):
        keeper = self
        self.requests: list[tuple[bytes, bytes]] = []

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                head = b""
                while not head.endswith(b"\r\n\r\n"):
                    line = self.rfile.readline()
                    if not line:
                        return
                    head += line
                length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
                body = self.rfile.read(int(length[1])) if length else b""
                keeper.requests.append((head, body))
                self.wfile.write(keeper.HEAD + keeper.BODY)

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
