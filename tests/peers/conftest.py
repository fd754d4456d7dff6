"""Fixtures: one llmock for all tests (each test has a model name of its own), and makers of what a test starts itself."""

import pytest
from support import AlteredLlmock, Haproxy, Keeper, Llmock, Nginx, Proxy, Simulated


@pytest.fixture(scope="session")
def llmock(tmp_path_factory):
    server = Llmock(tmp_path_factory.mktemp("llmock"))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def altered(tmp_path_factory):
    server = AlteredLlmock(tmp_path_factory.mktemp("altered"))
    yield server
    server.stop()


@pytest.fixture
def model(request):
    """A model name that no other test uses."""
    return "mock-" + request.node.name.replace("[", "-").rstrip("]").replace("_", "-")


@pytest.fixture
def start(tmp_path):
    """`start.proxy(url, *options)`, `start.nginx(url, location)`, `start.haproxy(url, *defaults)`, `start.simulated(script)`, `start.keeper()`; all are stopped with the test."""
    starter = Starter(tmp_path)
    yield starter
    starter.stop_all()


class Starter:
    def __init__(self, folder):
        self.folder = folder
        self.started = []

    def proxy(self, upstream, *options):
        return self._keep(Proxy(upstream, self._new_folder(), *options))

    def nginx(self, upstream, location="", listen=""):
        return self._keep(Nginx(upstream, self._new_folder(), location, listen))

    def haproxy(self, upstream, *defaults):
        return self._keep(Haproxy(upstream, self._new_folder(), *defaults))

    def simulated(self, script):
        return self._keep(Simulated(script, self._new_folder()))

    def keeper(self):
        return self._keep(Keeper())

    def _new_folder(self):
        folder = self.folder / str(len(self.started))
        folder.mkdir()
        return folder

    def _keep(self, thing):
        self.started.append(thing)
        return thing

    def stop_all(self):
        for thing in reversed(self.started):
            thing.stop()
