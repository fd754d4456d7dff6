"""The units of `deploy/systemd`: systemd takes them, and what they allow is all that dripline needs."""

import re
import urllib.error
import urllib.request

import pytest
from deploy import DEPLOY, tool
from support import Process, dripline_binary, nobodys_port, until

SERVICE = DEPLOY / "systemd/dripline.service"


def setting(name: str) -> list[str]:
    """The values of a setting of the service, one for each line."""
    return re.findall(rf"^{name}=(.*)$", SERVICE.read_text(), re.MULTILINE)


def command(folder) -> list[str]:
    """The service's own, with the binary under test, settings of this test's and a log in its folder."""
    [line] = setting("ExecStart")
    binary, *arguments = line.split()
    at = arguments.index("--config") + 1
    assert (binary, arguments[at]) == ("/usr/local/bin/dripline", "/etc/dripline/dripline.toml")
    arguments[at] = str(folder / "dripline.toml")
    # the name is looked up: nobody listens there
    (folder / "dripline.toml").write_text(f'upstream = "http://localhost:{nobodys_port()}"\nlisten = "127.0.0.1:0"\nadmin = "127.0.0.1:0"\n')
    return [str(dripline_binary()), *arguments, "--log", str(folder / "dripline.jsonl")]


def test_systemd_takes_the_units(tmp_path):
    for unit in (DEPLOY / "systemd").iterdir():
        (tmp_path / unit.name).write_text(unit.read_text().replace("/usr/local/bin/dripline", str(dripline_binary())))
    said = tool("systemd-analyze", "verify", tmp_path / "dripline.service", tmp_path / "dripline.socket")
    assert str(tmp_path) not in said, said  # what it does not know it ignores, and says so
    said = tool("systemd-analyze", "security", "--offline=true", "--threshold=15", SERVICE)
    assert "Overall exposure level" in said


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    """All that the service asks of the kernel while it starts, takes a request, looks up its upstream, is scraped, and ends."""
    folder = tmp_path_factory.mktemp("traced")
    trace = folder / "trace"
    process = Process("dripline", ["strace", "-D", "-f", "-q", "-o", trace, *command(folder)], folder)
    try:
        url = process.wait_for_line(r"listening on +(http://127\.0\.0\.1:\d+)")[1]
        admin = process.wait_for_line(r"live +(http://127\.0\.0\.1:\d+)")[1]
        with pytest.raises(urllib.error.HTTPError, match="502"):
            urllib.request.urlopen(f"{url}/v1/models", timeout=20)
        with urllib.request.urlopen(f"{admin}/metrics", timeout=20) as metrics:
            assert b"dripline_build_info" in metrics.read()
    finally:
        code = process.stop()
    assert code == 0
    # the tracer is a process of its own, which writes a little longer
    until(lambda: re.search(rf"^{process.child.pid} .*exited with 0", trace.read_text(errors="replace"), re.MULTILINE), 10, "the end of the trace")
    return trace.read_text(errors="replace")


def members(name: str) -> set[str]:
    """The system calls of one of systemd's sets, and those of the sets in it."""
    if not name.startswith("@"):
        return {name}
    listed = tool("systemd-analyze", "syscall-filter", name).splitlines()[1:]
    names = [line.strip() for line in listed if line.strip() and not line.strip().startswith("#")]
    return set().union(*(members(one) for one in names))


def test_the_sandbox_has_every_system_call(calls):
    allowed: set[str] = set()
    for line in setting("SystemCallFilter"):
        named = set().union(*(members(name) for name in line.removeprefix("~").split()))
        allowed = allowed - named if line.startswith("~") else allowed | named
    used = set(re.findall(r"^\d+ +(?:<\.\.\. )?(\w+)(?:\(| resumed)", calls, re.MULTILINE))
    assert {"execve", "accept4", "epoll_wait", "openat"} <= used, "the trace is one"
    assert used <= allowed, used - allowed


def test_the_sandbox_has_every_kind_of_socket_and_no_need_to_write_code(calls):
    [families] = setting("RestrictAddressFamilies")
    used = set(re.findall(r"\bsocket\((AF_\w+)", calls))
    assert "AF_INET" in used and used <= set(families.split())
    assert setting("MemoryDenyWriteExecute") == ["true"]
    assert "PROT_WRITE|PROT_EXEC" not in calls and "mprotect" in calls


def test_the_sandbox_has_every_file(calls):
    """Of /proc there are processes alone; to write into there is a log, of which systemd makes the folder."""
    opened = re.findall(r'openat\([^,]+, "([^"]+)", ([A-Z_|]+)', calls)
    assert setting("ProcSubset") == ["pid"]
    in_proc = {path for path, _ in opened if path.startswith("/proc/")}
    assert in_proc and all(re.match(r"/proc/(self|\d+)/", path) for path in in_proc), in_proc
    assert (setting("ProtectSystem"), setting("PrivateDevices")) == (["strict"], ["true"])
    written = {path.rsplit("/", 1)[1] for path, how in opened if "O_WRONLY" in how or "O_RDWR" in how}
    assert written == {"dripline.jsonl"}
    [log] = re.findall(r"^DRIPLINE_LOG=(.+)$", "\n".join(setting("Environment")), re.MULTILINE)
    assert log.startswith(f"/var/log/{setting('LogsDirectory')[0]}/")
