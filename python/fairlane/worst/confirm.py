"""From tried paths to worst paths: shrunk, confirmed on fresh seeds, and explained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base.escapes import one_line
from ..base.format import number, quantity, scale
from ..base.toml import dumps
from ..runs.network import Network
from ..runs.result import Result
from ..stats import interval
from .changes import Candidate
from .judge import Judge, network
from .model import Finding, Judged, WorstSpec
from .search import Search
from .shrink import shrunk

LEAST = 0.05
"""Least effect that counts, as a share of the value of the reference."""
NEXT = 0.25
"""Least effect of another path, as a share of the first one's."""
FAILED = 2
"""Paths without confirmation after which no other is looked for."""
SAMPLES = 300
"""Samples of a window in a picture."""


def findings(
    spec: WorstSpec, judge: Judge, search: Search, tick: Callable[[str], object] | None = None
) -> tuple[list[Finding], Judged | None]:
    """Returns the worst paths, each of another kind, and the first one that was not confirmed.

    The kind of a path is the set of its changes when it is shrunk. The next one lacks a change of every kind before it.
    """
    out: list[Finding] = []
    kinds: list[frozenset[str]] = []
    failed: Judged | None = None
    failures = 0
    while len(out) < spec.paths and failures < FAILED:
        left = (j for j in search.ranked if not any(k <= set(j.candidate) for k in kinds))
        best = next(left, None)
        if best is None or not matters(best) or (out and (best.effect or 0.0) < NEXT * (out[0].found.effect or 0.0)):
            break
        small = shrunk(spec, judge, best, None if tick is None else lambda: tick(f"shrinking path {len(out) + 1}"))
        kinds.append(frozenset(small.candidate))
        (fresh,) = judge.judge([small.candidate], spec.fresh)
        judge.kept.put(judge.take())
        if not confirmed(fresh):
            failed, failures = failed or fresh, failures + 1
            continue
        if tick is not None:
            tick(f"explaining path {len(out) + 1}")
        out.append(_finding(spec, len(out) + 1, best, small, fresh))
    return out, failed


def matters(j: Judged) -> bool:
    """Returns true if the effect is larger than a small share of the reference's value."""
    own = [x for x in j.other if x is not None]
    return j.effect is not None and j.effect > LEAST * abs(sum(own) / len(own))


def confirmed(fresh: Judged) -> bool:
    """Returns true if the effect matters on fresh seeds, and its interval lies above zero."""
    low = interval(fresh.effects).low
    return matters(fresh) and low is not None and low > 0


def _finding(spec: WorstSpec, n: int, found: Judged, small: Judged, fresh: Judged) -> Finding:
    own, other = ([x for x in values if x is not None] for values in (fresh.own, fresh.other))
    unit = spec.objective.unit
    made = Finding(n, found, small, fresh, interval(own, unit=unit), interval(other, unit=unit), interval(fresh.effects, unit=unit), True)
    made.sentence = sentence(spec, made)
    made.scenario = scenario(spec, made)
    _explain(spec, made)
    return made


def value_text(spec: WorstSpec, x: float | None) -> str:
    """Returns a value of the objective with its unit."""
    if x is None:
        return "-"
    factor, unit = scale(spec.objective.unit, x)
    return f"{number(float(f'{x * factor:.3g}'), 3)} {unit}".rstrip()


def changes_text(spec: WorstSpec, candidate: Candidate) -> str:
    """Returns what a path changes, as phrases."""
    phrases = [spec.change(name).words(state) for name, state in candidate.items()]
    return phrases[0] if len(phrases) == 1 else f"{', '.join(phrases[:-1])} and {phrases[-1]}"


def sentence(spec: WorstSpec, f: Finding) -> str:
    """Returns what happens on a path, in one sentence."""
    o = spec.objective
    own, other = value_text(spec, f.own.mean), value_text(spec, f.other.mean)
    changes = changes_text(spec, f.shrunk.candidate)
    verb, what = ("gets", " of what the path leaves") if o.share else ("has", "")
    got = f"{own}{what}" if o.share else f"{o.word} {own}"
    compared = f"where {spec.reference} {verb} {other}" if spec.reference else f"instead of {other} on the unchanged path"
    return f"{spec.subject} {verb} {got} {compared}: {changes}."


def on_path(spec: WorstSpec, candidate: Candidate, other: bool) -> Network:
    """Returns the scenario of a path, for the subject or the reference."""
    return network(spec).replace(spec.sets(candidate) | (dict(spec.other) if other else {}))


def scenario(spec: WorstSpec, f: Finding) -> str:
    """Returns the path as a scenario file."""
    net = on_path(spec, f.shrunk.candidate, False)
    tree: dict[str, Any] = net.to_dict()
    if spec.given:
        # Files that the scenario names lie elsewhere: a resolved scenario needs none.
        tree = {k: v for k, v in net.resolve().items() if k not in ("expanded", "warnings")}
    tree.setdefault("name", f"{spec.name}-{f.number}")
    head = [f"Worst path {f.number} of `fairlane worst`: {f.sentence}"]
    if spec.reference:
        sets = " ".join(f"--set {k}={v}" for k, v in spec.other.items())
        head.append(f"Compare: fairlane run {f.number}.toml {sets}")
    return "".join(f"# {one_line(line)}\n" for line in head) + "\n" + dumps(tree)


def _explain(spec: WorstSpec, f: Finding) -> None:
    """Runs subject and reference again, with what limited them and their windows."""
    duration = (spec.capacity.end // SAMPLES // 1000 or 1) * 1000
    sides = [(spec.subject, f.shrunk.candidate, False)]
    sides.append((spec.reference, f.shrunk.candidate, True) if spec.reference else ("unchanged path", {}, False))
    for name, candidate, other in sides:
        net = on_path(spec, candidate, other).replace("sample", f"{duration}us")
        result = net.run(seeds=[spec.seeds[0]], why=True)
        why = result.why()
        flows = [x for x in why.flows if x in spec.flows or x.rsplit(".", 1)[0] in spec.flows]
        queue = why.queues.get(spec.capacity.link)
        said = [f"{why.flow(x)} Goodput: {quantity(result.value('goodput', flow=x), 'bit/s')}." for x in flows[:4]]
        f.limits.append((name, [*said, *([str(queue)] if queue is not None else [])]))
        f.curves += _windows(name, result, flows[:2])


def _windows(name: str, result: Result, flows: list[str]) -> list[tuple[str, list[float], list[float | None]]]:
    """Returns the congestion window of some flows over time, in kB."""
    import polars as pl

    frame = result.flow_series
    if "cwnd" not in frame.columns:
        return []
    out = []
    for flow in flows:
        own = frame.filter(pl.col("flow") == flow).select("time", "cwnd").drop_nulls()
        if own.height:
            label = name if len(flows) == 1 else f"{name}: {flow}"
            out.append((label, own["time"].to_list(), (own["cwnd"].cast(pl.Float64) / 1000).to_list()))
    return out
