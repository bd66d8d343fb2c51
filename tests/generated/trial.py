"""One scenario, run in every way there is: what of it breaks a law."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from copy import deepcopy
from dataclasses import dataclass, field

import numpy as np

from fairlane import _core
from fairlane.errors import RunError, ScenarioError

from . import events, laws, numbers
from .repair import Tree, checked
from .shapes import ps
from .values import Draw

MOST = 20_000
"""Events of a run, from which on its scenario is made shorter."""
ROWS = 20_000_000
"""Bytes of rows, likewise: one event may copy a packet many times."""
STILL = 1_000_000
"""Events in which time has to move."""


@dataclass
class Outcome:
    """Outcome of a scenario."""

    kind: str
    """run, refused or large."""
    tree: Tree
    broken: list[str] = field(default_factory=list)
    events: int = 0
    parts: int = 0


def trial(tree: Tree, wrong: list[str] | None = None) -> Outcome:
    """Runs a scenario, made shorter if it is long, and looks at all of it."""
    wrong = list(wrong or [])
    for _ in range(4):
        resolved, tree, unclear = checked(tree)
        wrong += unclear
        if resolved is None:
            return Outcome("refused", tree, wrong)
        try:
            sim, rows, broken = pieces(resolved, json.loads(resolved.json())["seed"])
        except BaseException as e:  # a panic of the core is no `Exception`
            return Outcome("refused", tree, wrong + messages(e))
        wrong += broken
        if rows is not None:
            break
        if broken:
            return Outcome("run", tree, wrong)
        tree = deepcopy(tree) | {"duration": ps(max(1000, sim.now * 2 // 3))}
        if "warmup" in tree:
            tree["warmup"] = ps(int(_core.picoseconds(tree["duration"]) * 0.3))
        if "sample" in tree:
            tree["sample"] = ps(max(1000, _core.picoseconds(tree["duration"]) // 10))
    else:
        return Outcome("large", tree, wrong)
    found = Outcome("run", tree, wrong, sim.events)
    found.broken += looked_at(resolved, sim, rows, found)
    return found


def messages(e: BaseException) -> list[str]:
    """Returns the flaws of a run's error: a run may reject the impossible, in one clear message."""
    if isinstance(e, KeyboardInterrupt):
        raise e
    fine = isinstance(e, RunError) and "inside the simulator" not in str(e) and "Traceback" not in str(e)
    return [] if fine else [f"error: {type(e).__name__}: {str(e)[:300]!r}"]


def begun(resolved: _core.Resolved, seed: int, to: int, there: str) -> Iterator[str]:
    """Where a run of this duration is not the beginning of the longer one."""
    text = resolved.json(expanded=False)
    try:
        shorter = _core.resolve(text, "kept.json", "json", [("duration", ps(to)), ("warmup", "0s")])
    except ScenarioError:
        return  # a flow or a change would come after its end
    (run,) = _core.run(shorter, [seed], 1, here=True)
    if run.fingerprint != there:
        yield f"prefix: the run that ends at {to} ps is another one than what it is of the longer run"


def pieces(resolved: _core.Resolved, seed: int) -> tuple[_core.Simulation, list[bytes] | None, list[str]]:
    """A run in uneven pieces that is listened to; where it is too long, how far it came and whether time moved."""
    sim, draw = _core.Simulation(resolved, seed), Draw(seed + 7)
    sim.listen(([], [], [], None, None), False)
    rows: list[bytes] = []
    branch, wrong = None, []
    end = sim.end
    stops = sorted({int(end * (draw.below(1000) + 1) / 1001) for _ in range(draw.below(5))} | {end})
    for to in stops:
        while not sim.go(to, 0):
            rows += [b for _, b in sim.batches()]
            if sim.events > MOST or sum(map(len, rows)) > ROWS:
                now, since = sim.now, sim.events
                while sim.now == now and sim.events < since + STILL and not sim.go(to, 0):
                    sim.batches()
                moves = sim.now > now or sim.now >= to
                return sim, None, [] if moves else [f"time: {STILL} events at {now} ps, and it does not move"]
        rows += [b for _, b in sim.batches()]
        if to == stops[0] < end:
            branch, wrong = sim.branch(), list(begun(resolved, seed, to, sim.fingerprint))
    if sum(map(len, rows)) > 2 * ROWS:
        return sim, None, wrong
    if branch:
        branch.advance(end)
        if branch.fingerprint != sim.fingerprint:
            wrong.append("branch: a branch has another future than its parent")
    return sim, rows, wrong


def looked_at(resolved: _core.Resolved, sim: _core.Simulation, rows: list[bytes], found: Outcome) -> Iterator[str]:
    """Yields the broken laws."""
    whole = json.loads(resolved.json())
    expanded, seed = whole["expanded"], whole["seed"]
    air = {c["name"] for c in expanded.get("channels", ())}
    for link in expanded["links"]:
        link["air"] = link["to"] in air
    warm = _core.picoseconds(whole.get("warmup") or "0s")
    _, run = sim.result()
    by_group = whole.get("report") == "groups"
    names = ["groups" if by_group else "flows", "links", "network"]
    tables = {n: laws.table(run, n) for n in names}
    yield from ways(resolved, seed, run, found)
    for name, t in tables.items():
        yield from laws.broken(name, t, warm)
    e = events.Events(rows, sim.texts())
    copies = any(link.get("duplicate") for link in expanded["links"]) or "duplicate" in json.dumps(whole.get("at"))
    now = [sim.queue(i) for i in range(len(expanded["links"]))]
    yield from events.packets(e, sum(q["queue"]["packets"] + q["link"]["in_flight"] for q in now), copies)
    yield from events.hops(e, expanded["links"], bool(whole.get("at")))
    yield from events.queues(e, sim, expanded["links"], copies)
    flows = tables.get("flows")
    if flows is not None and flows["name"] == e.texts["flow"]:
        yield from laws.sums(flows, tables["links"], tables["network"])
        yield from events.counters(e, flows, tables["links"], warm)
        yield from numbers.of_flows(e, flows, warm, sim.end)
        yield from events.flows(e, expanded["flows"], flows, warm, bool(whole.get("at")))
    changed = bool(whole.get("at"))
    yield from numbers.of_links(e, tables["links"], expanded["links"], changed, warm, sim.end)
    if whole.get("sample"):
        series = {name: laws.table(run, name) for name in ("flow_series", "link_series")}
        for name, t in series.items():
            yield from laws.broken(name, t)
        yield from numbers.of_series(e, series["flow_series"], series["link_series"], expanded["links"], changed)


def ways(resolved: _core.Resolved, seed: int, first: _core.Run, found: Outcome) -> Iterator[str]:
    """Ways to run a scenario that come to something else."""
    text = resolved.json(expanded=False)
    (plain,) = _core.run(resolved, [seed], 1, here=True)
    yield from differ("in one piece", first, plain)
    # One by its text, as a file that holds the resolved scenario.
    kept = _core.resolve(text, "kept.json", "json", [])
    if kept.json(expanded=False) != text:
        yield "kept: a resolved scenario that is read again is another one"
    if "report" not in json.loads(text) or json.loads(text)["report"] != "groups":
        (watched,) = _core.run(_core.Resolved(text), [seed], 1, hop_probe=True, why=True, here=True)
        yield from differ("again, with its reasons", plain, watched, {"router_path_delay_mean"})
        if json.loads(text).get("sample") is None:
            (summed,) = _core.run(_core.resolve(text, "kept.json", "json", [("report", "groups")]), [seed], 1, here=True)
            flows, groups = laws.table(plain, "flows"), laws.table(summed, "groups")
            of = {f["name"]: f["group"] for f in json.loads(resolved.json())["expanded"]["flows"]}
            if set(flows["name"]) <= set(of) and flows["name"]:
                yield from laws.grouped(flows, groups, [of[n] for n in flows["name"]])
            if summed.fingerprint != plain.fingerprint:
                yield "groups: the run is another one where groups are reported"
    (bare,) = _core.run(_core.resolve(text, "kept.json", "json", [("warmup", "0s")]), [seed], 1, here=True)
    if bare.fingerprint != plain.fingerprint:
        yield "warmup: the run is another one without"
    if (parts := len(json.loads(resolved.partition(seed))["parts"])) > 1:
        found.parts = parts
        (two,) = _core.run(resolved, [seed], 2, apart=True)
        yield from differ(f"in {parts} parts", plain, two)


def differ(what: str, a: _core.Run, b: _core.Run, less: Collection[str] = ()) -> Iterator[str]:
    """Yields the differences between two runs of one scenario."""
    if a.fingerprint != b.fingerprint:
        yield f"ways: {what} the fingerprint is {b.fingerprint}, not {a.fingerprint}"
        return
    for name in ("flows", "groups", "links", "network"):
        one, two = laws.table(a, name), laws.table(b, name)
        for column in [c for c in one if c not in less]:
            same = one[column] == two[column] if isinstance(one[column], list) else np.array_equal(one[column], two[column], equal_nan=True)
            if not same:
                unlike = [not (x == y or (x != x and y != y)) for x, y in zip(one[column], two[column], strict=True)]
                i = unlike.index(True)
                whose = one["name"][i] if "name" in one else "all"
                yield f"ways: {what} {name} of {whose} have {column} {two[column][i]!r}, not {one[column][i]!r}"
                return
    if a.packet_hops != b.packet_hops:
        yield f"ways: {what} there are {b.packet_hops} hops, not {a.packet_hops}"
