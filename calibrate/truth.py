"""What happened to a stream on its way, from the emitter's stamps and the arrivals. dripline's verdict is not looked at.

An event's hold is its arrival at dripline less its write at the emitter. Both count from the moment at which the client sent
its request (dripline's own zero, the last byte of the head, is the same within a millisecond). The way itself takes always about the same, so it
is the part of the holds that varies that tells of a hop that held.

A release is a run of events that arrived together, though the server wrote them apart, and whose first had waited.
"""

from statistics import mean, median, pstdev

LEAST_BOUND_MS = 25  # less is the machine, not the hop
TOGETHER_MS = 3  # the longest pause inside one release, for slow streams
COPYING_MS = 5  # the longest pause between two reads of one large release
SHARE_HELD = 0.5  # of all events came in releases: the hop held the stream
GROUPED = 2  # writes that came in one group, on average: fewer, and a server that writes several events at once looks the same
WHOLE_SPAN_MS = 100  # what the server wrote within less is one burst of the server's own
WHOLE_PART = 0.03
SHARE_GRAY = 0.06  # more than this, and less than the above: neither clearly held nor clearly not
LONG_STALL_MS = 250
SOME_WRITES = 4
FULL_SOCKETS = 4_500_000  # more bytes than a socket's send buffer can grow to (4 MB) and a small receive buffer take


def of(row: dict, hop: dict) -> dict:
    """The facts of one row of the corpus."""
    shape = row["shape"]
    # Comments are no events: they are left out.
    stamp = row["stamps"] | {"writes": [write for write in row["stamps"]["writes"] if write[1]]}
    emitted, write_of = emitted_events(stamp)
    arrived, bytes_of_row, row_of = arrived_events(row["record"]["timeline"])
    facts = {
        "mechanism": hop["mechanism"],
        "fault": row["fault"],
        "kind": shape["kind"],
        "cuts": hop.get("cuts", False),
        "aligned": len(emitted) == len(arrived),
        "lateness_p99_ms": lateness(stamp),
        "events": len(emitted),
        "writes": len(stamp["writes"]),
    }
    facts |= client_facts(row)
    if not facts["aligned"]:
        return facts | {"events_seen": len(arrived), "state": "unknown"}
    ways = {"header_arrived_ms": row["record"]["at"]["header_ms"], "tail_ms": tail_ms(stamp, arrived)}
    return facts | ways | holds(emitted, write_of, arrived, row_of, bytes_of_row) | server_facts(shape, stamp, arrived)


def emitted_events(stamp: dict) -> tuple[list[float], list[int]]:
    times, write_of = [], []
    for i, (at_us, events, _) in enumerate(stamp["writes"]):
        times += [at_us / 1e3] * events
        write_of += [i] * events
    return times, write_of


def arrived_events(timeline: list) -> tuple[list[float], list[int], list[int]]:
    times, sizes, row_of = [], [], []
    for i, (arrived_us, _, size, events, _) in enumerate(timeline):
        times += [arrived_us / 1e3] * events
        row_of += [i] * events
        sizes.append(size)
    return times, sizes, row_of


def lateness(stamp: dict) -> float:
    late = sorted((at_us - planned_us) / 1e3 for at_us, _, planned_us in stamp["writes"])
    return round(late[int(0.99 * (len(late) - 1))], 3)


def client_facts(row: dict) -> dict:
    if not row["client"]:
        return {"client_full": False}
    # What the server would have written while the client did not read.
    bytes_per_s = row["shape"]["rate"] * row["shape"]["size"]
    return {"client_full": bytes_per_s * row["client"]["stop_for_s"] > FULL_SOCKETS}


def server_facts(shape: dict, stamp: dict, arrived: list) -> dict:
    writes = [at_us / 1e3 for at_us, _, _ in stamp["writes"]]
    tokens = [at for at in writes[:-1] if at >= first_token(shape, writes)]  # the last write is the finish
    gaps = sorted(b - a for a, b in zip(tokens, tokens[1:], strict=False)) or [0.0]
    p90 = gaps[int(0.9 * (len(gaps) - 1))]
    return {
        "header_ms": round((stamp["header_us"] - stamp["read_us"]) / 1e3, 1),
        "first_token_ms": round(arrived[stamp["writes"][0][1] if shape["with_role"] else 0], 1),
        "events_per_write": max(events for _, events, _ in stamp["writes"]),
        "gap_p90_ms": round(p90, 2),
        "gap_max_ms": round(gaps[-1], 2),
        "gap_cv": round(pstdev(gaps) / mean(gaps), 3) if mean(gaps) else 0.0,
    }


def first_token(shape: dict, writes: list) -> float:
    return writes[1 if shape["with_role"] else 0]


def holds(emitted, write_of, arrived, row_of, bytes_of_row) -> dict:
    held_ms = [a - e for a, e in zip(arrived, emitted, strict=True)]
    in_order = sorted(held_ms)
    least = in_order[0]
    spread = in_order[int(0.95 * (len(in_order) - 1))] - in_order[int(0.05 * (len(in_order) - 1))]
    gap = usual_gap(emitted, write_of)
    bound = max(LEAST_BOUND_MS, gap / 2)
    waited = [h - least for h in held_ms]
    found = releases(emitted, write_of, arrived, row_of, waited, bound, gap)
    share = sum(r["events"] for r in found) / len(emitted)
    span = emitted[-1] - emitted[0]
    worst = max((r["waited_ms"] for r in found if r["writes"] >= SOME_WRITES), default=0)
    facts = {
        "usual_gap_ms": round(gap, 3),
        "hold_least_ms": round(least, 2),
        "hold_spread_ms": round(spread, 2),
        "hold_max_ms": round(in_order[-1] - least, 2),
        "share_in_releases": round(share, 3),
        "releases": len(found),
        "full_releases": max(0, len(found) - 1),  # the last is what was left
        "emitted_span_ms": round(span, 1),
        "arrived_span_ms": round(arrived[-1] - arrived[0], 1),
        "worst_release_ms": round(worst, 1),
    }
    grouped = (write_of[-1] + 1) / len(runs(arrived, waited, bound, gap))
    facts["writes_per_group"] = round(grouped, 2)
    # A large body takes several reads, and the time of the copying.
    at_once = arrived[-1] - arrived[0] <= max(TOGETHER_MS, WHOLE_PART * span)
    facts["whole"] = span > WHOLE_SPAN_MS and (at_once or len(found) == 1 and found[0]["events"] >= len(emitted) - 1)
    long_stall = worst > max(LONG_STALL_MS, 5 * gap)
    if share >= SHARE_HELD and spread > bound and grouped >= GROUPED or facts["whole"]:
        facts["state"] = "held"
    elif long_stall:
        facts["state"] = "held_once" if len(found) == 1 or share < SHARE_HELD else "held"
    elif share > SHARE_GRAY or spread > bound or grouped >= GROUPED:
        facts["state"] = "gray"
    else:
        facts["state"] = "free"
    return facts | constants(found, row_of, bytes_of_row)


def tail_ms(stamp: dict, arrived: list) -> float:
    """From the last token's arrival to the last event's."""
    last_token = len(arrived) - 1 - stamp["writes"][-1][1]
    return round(arrived[-1] - arrived[last_token], 1)


def usual_gap(emitted: list, write_of: list) -> float:
    starts = [emitted[i] for i in range(len(emitted)) if i == 0 or write_of[i] != write_of[i - 1]]
    gaps = [b - a for a, b in zip(starts, starts[1:], strict=False)]
    return median(gaps) if gaps else 0.0


def together_ms(gap: float) -> float:
    return min(TOGETHER_MS, max(0.3, gap / 4))


def runs(arrived, waited, bound, gap) -> list[range]:
    """Events that came together. A large lump takes several reads: what still waits when the first read is in belongs to it."""
    found, start = [], 0
    for i in range(1, len(arrived) + 1):
        if i < len(arrived):
            pause = arrived[i] - arrived[i - 1]
            if pause <= together_ms(gap) or pause <= COPYING_MS and waited[i] > bound:
                continue
        found.append(range(start, i))
        start = i
    return found


def releases(emitted, write_of, arrived, row_of, waited, bound, gap) -> list[dict]:
    found = []
    for run in runs(arrived, waited, bound, gap):
        start, last = run[0], run[-1]
        wait_of_write = {write_of[i]: waited[i] for i in run}
        waits = sorted(wait_of_write.values(), reverse=True)
        if len(waits) >= 2 and waits[0] > bound and emitted[last] - emitted[start] > LEAST_BOUND_MS / 2:
            found.append(
                {
                    "at_ms": arrived[start],
                    "events": len(run),
                    "writes": len(waits),
                    # One early event, such as the role's, waits long without any bytes to speak of: the third longest counts.
                    "waited_ms": waits[min(2, len(waits) - 1)],
                    "rows": (row_of[start], row_of[last]),
                }
            )
    return found


def constants(found: list, row_of, bytes_of_row) -> dict:
    """How far period, count and bytes of the full releases vary, as parts of their mean; null when there are too few."""
    full = found[:-1]
    if len(full) < 4:
        return {"period_cv": None, "count_cv": None, "bytes_cv": None}
    # The first release may have begun in the middle of a period, and has the role's event too.
    periods = [b["at_ms"] - a["at_ms"] for a, b in zip(full[1:], full[2:], strict=False)]
    counts = [r["events"] for r in full[1:]]
    # Rows without an event's end belong to the release in which the event ends.
    sizes, before = [], full[0]["rows"][1]
    for r in full[1:]:
        sizes.append(sum(bytes_of_row[before + 1 : r["rows"][1] + 1]))
        before = r["rows"][1]
    return {
        "period_ms": round(median(periods), 2),
        "period_cv": variation(folded(periods)),
        "count": median(counts),
        "count_cv": variation(counts),
        "count_range": [min(counts), max(counts)],
        "bytes": median(sizes),
        "bytes_cv": variation(folded(sizes)),
    }


def folded(values: list) -> list:
    """A release of one write is none by our count, so that two periods look like one: each is taken as so many usual ones."""
    usual = median(values)
    return [value / max(1, round(value / usual)) for value in values]


def variation(values: list) -> float:
    return round(pstdev(values) / mean(values), 4) if mean(values) else 0.0
