"""Each hop that holds, and its twin with the setting that a hint names, on the same streams: what dripline says of both."""

from collections import Counter
from dataclasses import replace

from calibrate import run
from calibrate.programs import hop_table
from calibrate.streams import Stream, make


def pairs(names: list[str] | None) -> list[tuple[dict, dict]]:
    hops = {hop["name"]: hop for hop in hop_table()["hop"]}
    chosen = [hop for hop in hops.values() if "cured_by" in hop and (names is None or hop["name"] in names)]
    return [(hop, hops[hop["cured_by"]]) for hop in chosen]


def twins(faulty: dict, cured: dict, n: int, seed: int) -> list[Stream]:
    """The same streams twice: even ones of a length in which the hop's mechanism shows."""
    made, seed = [], seed * 1_000_000
    while len(made) < 2 * n:
        seed += 1
        stream = make(faulty, seed)
        if stream.shape["kind"] in ("even", "mixed_sizes") and stream.shape["seconds"] > 1:
            made.append(replace(stream, id=f"f{seed}-{faulty['name']}"))
            made.append(replace(stream, id=f"w{seed}-{faulty['name']}", hop=encoded_as(cured, faulty)))
    return made


def encoded_as(cured: dict, faulty: dict) -> dict:
    """The twin is asked the way the faulty one was, so that only the hop's setting differs."""
    asked = {name: faulty[name] for name in ("accept_encoding", "format") if name in faulty}
    return {name: value for name, value in cured.items() if name not in ("accept_encoding", "format")} | asked


def compare(n: int, seed: int, concurrency: int, events_per_s: float, names: list[str] | None) -> bool:
    """Prints both sides of each pair; true when following the hint made every stream free of the fault."""
    chosen = pairs(names)
    streams = [stream for faulty, cured in chosen for stream in twins(faulty, cured, n, seed)]
    said: dict[tuple[str, str], Counter] = {}
    for row in run.run(streams, concurrency, events_per_s):
        side, faulty = row["id"][0], row["id"].split("-", 1)[1]
        said.setdefault((faulty, side), Counter())[row["record"]["verdict"]["timing"]] += 1
    all_cured = True
    for faulty, _ in chosen:
        before, after = said.get((faulty["name"], "f"), Counter()), said.get((faulty["name"], "w"), Counter())
        is_cured = set(after) == {"steady"}
        all_cured = all_cured and is_cured
        print(f"{faulty['name']:24} {shown(before)}\n  {faulty['cure']:52} → {shown(after)}{'' if is_cured else '   NOT CURED'}")
    return all_cured


def shown(counts: Counter) -> str:
    return ", ".join(f"{timing} × {n}" for timing, n in counts.most_common()) or "nothing"
