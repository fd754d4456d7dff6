"""Each hop that holds, and its twin with the setting that a hint names, on the same streams: what dripline says of both.

A scripted hop has no such setting: it is taken away, which shows that it was the hop and not the streams.
"""

import json
from collections import Counter
from dataclasses import dataclass, field, replace

from calibrate import run
from calibrate.programs import hop_table
from calibrate.streams import Stream, make

TRIED = run.OUT / "cures.json"
TAKEN_AWAY = "scripted hop taken away"  # a cure that is `direct` sets nothing


@dataclass
class Cure:
    faulty: dict
    twin: dict
    does: str
    before: Counter = field(default_factory=Counter)
    after: Counter = field(default_factory=Counter)

    @property
    def helps(self) -> bool:
        return set(self.after) == {"steady"}

    def row(self) -> list[str]:
        return [self.faulty["name"], shown(self.before), self.does, shown(self.after)]


def all_cures(names: list[str] | None) -> list[Cure]:
    hops = {hop["name"]: hop for hop in hop_table()["hop"]}
    chosen = [hop for hop in hops.values() if names is None or hop["name"] in names]
    return [Cure(hop, twin(hop, hops[cure["is"]], cure), what_it_does(cure)) for hop in chosen for cure in hop.get("cures", [])]


def what_it_does(cure: dict) -> str:
    return TAKEN_AWAY if cure["is"] == "direct" else f"`{cure['set']}`"


def twin(faulty: dict, cured: dict, cure: dict) -> dict:
    """It is asked the way the faulty one is, so that only what the cure sets differs."""
    asks = ("accept_encoding", "format", "length_known")
    asked = {name: faulty[name] for name in asks if name in faulty}
    if cure.get("identity"):
        asked["accept_encoding"] = "identity"
    return {name: value for name, value in cured.items() if name not in asks} | asked


def streams_of(cure: Cure, number: int, n: int, seed: int) -> list[Stream]:
    """The same streams through both: even ones of a length in which the hop's mechanism shows."""
    made, seed = [], seed * 1_000_000
    while len(made) < 2 * n:
        seed += 1
        stream = make(cure.faulty, seed)
        if stream.shape["kind"] in ("even", "mixed_sizes") and stream.shape["seconds"] > 1:
            made.append(replace(stream, id=f"before-{number}-{seed}"))
            made.append(replace(stream, id=f"after-{number}-{seed}", hop=cure.twin))
    return made


def compare(n: int, seed: int, concurrency: int, events_per_s: float, names: list[str] | None) -> bool:
    """Prints both sides of each cure and keeps them for the page; true when each made every stream steady."""
    cures = all_cures(names)
    streams = [stream for number, cure in enumerate(cures) for stream in streams_of(cure, number, n, seed)]
    for row in run.run(streams, concurrency, events_per_s):
        side, number, _ = row["id"].split("-")
        getattr(cures[int(number)], side)[row["record"]["verdict"]["timing"]] += 1
    for cure in cures:
        hop, before, what, after = cure.row()
        print(f"{hop:24} {before}\n  {what:52} → {after}{'' if cure.helps else '   NOT CURED'}")
    TRIED.parent.mkdir(exist_ok=True)
    TRIED.write_text(json.dumps([cure.row() for cure in cures]))
    return all(cure.helps for cure in cures)


def shown(counts: Counter) -> str:
    return ", ".join(f"{timing} × {n}" for timing, n in counts.most_common()) or "nothing"
