"""What `dripline report` says of a log: the other side of each comparison."""

import csv
import functools
import io
import json
import math
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support import dripline_binary

# Hours are those of UTC in both.
UTC = {**os.environ, "TZ": "UTC"}


class Report:
    """The reports on one log, each made once. Those that are named `ahead` are begun at once, two at a time."""

    def __init__(self, log: Path, ahead: list[tuple]):
        self.log = log
        self.pool = ThreadPoolExecutor(2)
        self.begun = {options: self.pool.submit(self._print, options) for options in ahead}

    def summary(self, *options: str) -> dict:
        return json.loads(self.text("--json", *options))

    @functools.cache
    def rows(self) -> list[dict]:
        """The rows of `--csv`."""
        return list(csv.DictReader(io.StringIO(self.text("--csv"), newline="")))

    def text(self, *options: str) -> str:
        if options not in self.begun:
            self.begun[options] = self.pool.submit(self._print, options)
        return self.begun[options].result()

    def _print(self, options: tuple) -> str:
        command = [dripline_binary(), "report", self.log, *options]
        return subprocess.run(command, env=UTC, check=True, capture_output=True).stdout.decode()


def same(one, other) -> bool:
    """Equal; figures that are means, to a µs, as both sides round them."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, float) or isinstance(other, float):
        return one is not None and other is not None and math.isclose(one, other, abs_tol=0.00101, rel_tol=1e-9)
    return one == other
