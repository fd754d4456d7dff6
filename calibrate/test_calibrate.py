"""A small part of the calibration: no false alarm among healthy streams, and what a hop held is seen as held."""

import pytest

from calibrate import labels, run, score
from calibrate.streams import make_all

HOPS = [
    "direct",
    "nginx_default",
    "nginx_unbuffered",
    "haproxy_default",
    "haproxy_no_delay",
    "caddy_gzip",
    "python_unflushed",
    "scripted_tick",
    "scripted_count",
    "scripted_latency",
]
STREAMS = 80


@pytest.fixture(scope="module")
def judged():
    streams = make_all(run.choose_hops(HOPS), STREAMS, seed=7)
    rows = list(run.run(streams, concurrency=24, events_per_s=1200))
    assert len(rows) == STREAMS, "each stream has its reply, its record and its stamps"
    return [j for j in map(score.Judged, rows) if j.scored]


def test_no_false_alarm(judged):
    assert [(j.id, j.hop, j.shape, j.allowed, j.said) for j in judged if j.is_false_alarm] == []


def test_what_was_held_is_seen(judged):
    held = [j for j in judged if j.is_held]
    missed = [(j.id, j.hop, j.shape, j.allowed, j.said) for j in held if j.said not in score.HELD]
    assert len(held) >= 15
    assert len(missed) <= max(1, len(held) * 0.05), missed


def test_the_table_fits_every_hop():
    """Each mechanism of a hop is one that the table of labels knows, and each cure is a hop."""
    hops = labels.hops()
    known = {"none", "latency", "whole", "compressor", "stall", "client", "header", "tail", "block", "tick", "count"}
    assert {hop["mechanism"] for hop in hops.values()} <= known
    assert {cure["is"] for hop in hops.values() for cure in hop.get("cures", [])} <= set(hops)
