"""The wireless networks compared with the wired ones: their combinations, tables and findings, with the numbers of the runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from fairlane.papers import Combination, Compared, Results, Row, factors_of, row_of

from . import air
from .air import LIMIT, LIMITS, LOAD, LOADS, NETWORKS, QUEUES, VARIED

SHOWN = (
    "throughput",
    "received",
    "enqueued",
    "dequeued",
    "dropped",
    "loss_rate",
    "air_loss",
    "mean_time_in_queue",
    "one_way_delay",
    "jitter",
)
"""The metrics of the page; the others are in the table of results."""
WIRED = ("throughput", "loss_rate", "mean_time_in_queue", "one_way_delay", "jitter")
"""Metrics with equal meaning in a wired network that do not count packets of another time span."""
CLAMP = (
    "A station with ModRED lowers the windows of the acknowledgments that reach it over the air while its queue is between the thresholds, "
    "as a router does on its line."
)
VIRTUAL = (
    "AVQ's virtual queue is served at nearly the rate of the channel, of which a station among others that send has a part: it is empty "
    "when the real one is not."
)


def needed(c: Combination, n: int) -> bool:
    """Returns true if the experiment of n nodes reads a combination; the experiment of the largest network reads all."""
    if air.is_choice(c):
        return n == VARIED
    if air.is_air(c):
        return c["network"] == str(n) or (n == max(NETWORKS) and (c["load"], c["queue"]) == (str(LOAD), str(LIMIT)))
    own = c["network"] == str(n) and (c["load"] == str(LOAD) or c["queue"] == str(LIMIT))
    other = n == max(NETWORKS) and (c["load"], c["queue"], c["aqm"]) == (str(LOAD), str(LIMIT), "RED")
    return c["traffic"] == "bulk" and (own or other)


def _at(n: int, load: int, queue: int, aqm: str, traffic: str = air.AIR) -> Mapping[str, object]:
    return {"network": n, "load": load, "queue": queue, "aqm": aqm, "traffic": traffic}


def _of(r: Results, metric: str, n: int, load: int = LOAD, queue: int = LIMIT, aqm: str = "DropTail", traffic: str = air.AIR) -> float:
    return r.mean(metric, **_at(n, load, queue, aqm, traffic))


def beside_wired(r: Results, n: int) -> list[Compared]:
    """Returns the metrics by load with 100 packets, next to those of the wired network if it has that combination."""
    rows = []
    for metric in SHOWN:
        for load in LOADS:
            for a in QUEUES:
                if r.has(**_at(n, load, LIMIT, a)):
                    wired = _at(n, load, LIMIT, a, "bulk")
                    x = row_of({}, metric, r.samples(r.combination(**_at(n, load, LIMIT, a)), metric), air.METRICS[metric])
                    peer = r.mean(metric, **wired) if metric in WIRED and r.has(**wired) else None
                    factors = factors_of(load=load, aqm=a)
                    rows.append(Compared(factors, metric, x.unit, None, x.value, x.low, x.high, max(1, len(x.samples)), peer))
    return rows


def choices(r: Results) -> list[Compared]:
    """Throughput, and both kinds of loss, with each choice; the first line is what is chosen."""
    rows: list[Compared] = []
    if not any(air.is_choice(c) for c in r.combinations):
        return rows
    for metric in ("throughput", "loss_rate", "air_loss"):
        for name in ("", *(c.name for c in air.CHOICES)):
            for a in ("RED", "ModRED"):
                at = _at(VARIED, LOAD, LIMIT, a, air.chosen(name))
                if r.has(**at):
                    x = row_of({}, metric, r.samples(r.combination(**at), metric), air.METRICS[metric])
                    factors = factors_of(choice=name or "as chosen", aqm=a)
                    rows.append(Compared(factors, metric, x.unit, None, x.value, x.low, x.high, max(1, len(x.samples))))
    return rows


def told(values: Sequence[float], digits: int = 1) -> str:
    """Numbers in a sentence: "1.0, 2.0 and 3.0"."""
    words = [f"{x:.{digits}f}" for x in values]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def course(values: Sequence[float], apart: float = 0.05) -> str:
    """How a quantity goes from its first value to its last: "falls", "grows", "goes up and down" or "stays as it is"."""
    small = apart * max(map(abs, values)) or 1e-9
    steps = [b - a for a, b in pairwise(values)]
    up, down = any(s > small for s in steps), any(s < -small for s in steps)
    return {(True, False): "grows", (False, True): "falls", (True, True): "goes up and down"}.get((up, down), "stays as it is")


def notes(r: Results, n: int, there: air.Stations) -> list[str]:
    """Sentences under the network of n nodes."""
    hops = there.lengths()
    made = [
        f"A station decodes {len(there.hops) / len(there.at):.1f} others in the mean; a path has {sum(hops) / len(hops):.1f} hops in the "
        f"mean, the longest {max(hops)} (all nodes sending, first replication)."
    ]
    if all(r.has(**_at(n, LOAD, LIMIT, a)) for a in QUEUES):
        made += [_losses(r, n), _modred(r, n), *_avq(r, n)]
    if n == VARIED:
        made.append(CLAMP)
    if all(r.has(**_at(n, LOAD, q, a)) for q in LIMITS for a in QUEUES):
        made += _limits(r, n)
    if all(r.has(**_at(n, x, LIMIT, a)) for x in LOADS for a in QUEUES):
        made.append(_best(r, n))
    if n == max(NETWORKS) and all(r.has(**_at(k, LOAD, LIMIT, a)) for k in NETWORKS for a in QUEUES):
        made.append(_nodes(r))
    if n == VARIED:
        made += _choices(r)
    return made


def _losses(r: Results, n: int) -> str:
    queues, lost = ([_of(r, m, n, aqm=a) for a in QUEUES] for m in ("dropped", "given_up"))
    worst = [_of(r, "most_dropped", n, aqm=a) for a in QUEUES if _of(r, "dropped", n, aqm=a)]
    silent = sum(_of(r, "silent", n, aqm=a) for a in QUEUES) / len(QUEUES)
    where = f" Of the drops the one station that drops most has {min(worst):.0f} to {max(worst):.0f} %." if worst else ""
    return (
        f"Where packets are lost at {LOAD} % load with {LIMIT} packets, {', '.join(QUEUES)} in this order: in queues "
        f"{told(queues, 0)} packets, on the air after the last attempt {told(lost, 0)}.{where} In the time that is measured, 12 s, nothing "
        f"arrives of {silent:.0f} % of the flows."
    )


def _apart(r: Results, n: int, load: int, traffic: str = air.AIR) -> Row:
    """ModRED's throughput above RED's, percent, replication by replication: the pairs are the same in both."""
    mod, red = (r.samples(r.combination(**_at(n, load, LIMIT, a, traffic)), "throughput") for a in ("ModRED", "RED"))
    return row_of({}, "gain", [100 * (a / b - 1) for a, b in zip(mod, red, strict=True)], "percent")


def _signed(x: Row) -> str:
    def of(v: float) -> str:
        return f"{round(v):+d}" if round(v) else "0"

    between = "" if x.low is None or x.high is None else f" ({of(x.low)} to {of(x.high)})"
    return f"{of(x.value)} %{between}".replace("-", "−")


def _modred(r: Results, n: int) -> str:
    loads = [x for x in LOADS if all(r.has(**_at(n, x, LIMIT, a)) for a in ("ModRED", "RED"))]
    here = ", ".join(f"{_signed(_apart(r, n, x))} at {x} % load" for x in loads)
    both = [x for x in loads if all(r.has(**_at(n, x, LIMIT, a, "bulk")) for a in ("ModRED", "RED"))]
    on_wire = ", ".join(_signed(_apart(r, n, x, "bulk")) for x in both)
    wired = f"; on the wire, with windows lowered, {on_wire}" if both == loads else ""
    drops = " and ".join(f"{_of(r, 'loss_rate', n, aqm=a):.2f} %" for a in ("ModRED", "RED"))
    return f"ModRED's throughput against RED's: {here}{wired}. At {LOAD} % their queues drop {drops} of what comes."


def _same(r: Results, one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    return all(r.samples(r.combination(**one), m) == r.samples(r.combination(**other), m) for m in air.METRICS)


def _avq(r: Results, n: int) -> list[str]:
    same = _same(r, _at(n, LOAD, LIMIT, "AVQ"), _at(n, LOAD, LIMIT, "DropTail"))
    return [f"AVQ does exactly what DropTail does.{' ' + VIRTUAL if n == VARIED else ''}"] * same


def _limits(r: Results, n: int) -> list[str]:
    made = []
    wired = all(r.has(**_at(n, LOAD, q, "DropTail", "bulk")) for q in LIMITS)
    for metric, words, unit, digits in (
        ("loss_rate", "the share that DropTail drops", "%", 2),
        ("mean_time_in_queue", "its time in queue", "ms", 0),
    ):
        here = [_of(r, metric, n, LOAD, q) for q in LIMITS]
        wired_values = [_of(r, metric, n, LOAD, q, "DropTail", "bulk") for q in LIMITS] if wired else []
        text = f"With 25, 100 and 250 packets {words} {course(here)}: {told(here, digits)} {unit}"
        if wired_values:
            verdict = "as on the wire" if course(wired_values) == course(here) else f"where on the wire it {course(wired_values)}"
            text += f", {verdict} ({told(wired_values, digits)} {unit})"
        made.append(f"{text}.")
    given = [_of(r, "air_loss", n, LOAD, q) for q in LIMITS]
    made[0] += f" What the air gives up {course(given, 0.2)}: {told(given, 2)} % of what is sent."
    if _same(r, _at(n, LOAD, LIMITS[1], "DropTail"), _at(n, LOAD, LIMITS[2], "DropTail")):
        made[1] += " With 100 and with 250 the runs are the same: no queue ever holds 100 packets."
    return made


def _best(r: Results, n: int) -> str:
    most = {x: max(QUEUES, key=lambda a: _of(r, "throughput", n, x, LIMIT, a)) for x in LOADS}
    short = {x: min(QUEUES, key=lambda a: _of(r, "mean_time_in_queue", n, x, LIMIT, a)) for x in LOADS}
    named = [f"{x} %: {most[x]}, {short[x]}" for x in LOADS]
    spread = [100 * (1 - min(values) / max(values)) for x in LOADS for values in [[_of(r, "throughput", n, x, LIMIT, a) for a in QUEUES]]]
    return (
        f"Most throughput and shortest time in queue by load, {'; '.join(named)}. Between the best and the last discipline lie "
        f"{min(spread):.0f} to {max(spread):.0f} % of throughput."
    )


def _nodes(r: Results) -> str:
    queue, lost, retried = ([_of(r, m, n, aqm="RED") for n in NETWORKS] for m in ("loss_rate", "air_loss", "retried"))
    wired = [n for n in NETWORKS if r.has(**_at(n, LOAD, LIMIT, "RED", "bulk"))]
    on_wire = [_of(r, "loss_rate", n, aqm="RED", traffic="bulk") for n in wired]
    nodes = ", ".join(map(str, wired))
    on_wire_text = f" Dropped on the wire with {nodes}: {told(on_wire, 2)} %." if len(wired) > 1 else ""
    return (
        f"More nodes, {', '.join(map(str, NETWORKS))}, at {LOAD} % load: what RED drops in queues {course(queue)} ({told(queue, 2)} %), "
        f"what the air gives up {course(lost)} ({told(lost, 2)} %), and {told(retried, 0)} % of the attempts are retries.{on_wire_text}"
    )


def _choices(r: Results) -> list[str]:
    names = ["", *(c.name for c in air.CHOICES)]
    there = [c for c in names if all(r.has(**_at(VARIED, LOAD, LIMIT, a, air.chosen(c))) for a in ("RED", "ModRED"))]
    if len(there) < 2:
        return []
    gains = {c or "as chosen": _apart(r, VARIED, LOAD, air.chosen(c)) for c in there}
    above, below = sum((x.low or 0.0) > 0 for x in gains.values()), sum((x.high or 0.0) < 0 for x in gains.values())
    return [
        f"ModRED's throughput against RED's with each choice: {'; '.join(f'{c} {_signed(x)}' for c, x in gains.items())}. It is clearly "
        f"above with {above} of {len(gains)}, clearly below with {below}.",
        f"The choices: {' '.join(f'{c.name}: {c.why}.' for c in air.CHOICES)}",
    ]


def finding(r: Results) -> list[str]:
    """The wireless networks in the summary."""
    n = VARIED
    if not all(r.has(**_at(n, LOAD, LIMIT, a)) for a in QUEUES):
        return []
    dropped, given = (_of(r, m, n, aqm="RED") for m in ("dropped", "given_up"))
    of_air = 100 * given / max(1.0, dropped + given)
    return [
        f"On the air (802.11b at 2 Mbit/s, {n} nodes, {LOAD} % load, {LIMIT} packets) {of_air:.0f} % of the packets that RED's network "
        "loses are given up after the last attempt, not dropped in a queue, and no queue discipline changes that. ModRED's throughput, "
        f"which drops and lower windows both cost, differs from RED's by {_signed(_apart(r, n, LOAD))} there."
    ]
