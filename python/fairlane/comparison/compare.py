"""`compare`: runs a scenario under several queues, congestion controls or other values, with equal seeds."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from ..base.notices import warn
from ..base.paths import split
from ..base.scenario import checked, chosen_link, resolve
from ..base.seeds import either, parse_seeds
from ..errors import FairlaneError, ScenarioError, UnknownNameError
from ..runs.network import Network
from ..runs.result import run_resolved
from ..stats import MARGIN, margin_share
from .data import Compared
from .factors import Factor, Level, read_factors
from .metrics import read_metrics
from .result import Comparison

if TYPE_CHECKING:
    from .. import _core

SAMPLES = 1000
"""Samples of the time series, if the scenario sets no sampling step."""
CAPACITY = "10Mbit/s"
"""Bottleneck rate of the default dumbbell."""

StepProgress = Callable[[float, str], None]


def default_network(*, flows: int = 5, udp: str = "5Mbit/s", tcp: Any = "newreno", duration: str = "60s", warmup: str = "10s") -> Network:
    """Returns the default dumbbell for comparisons: TCP flows and one UDP stream of constant rate.

    The bottleneck has 10 Mbit/s and 20 ms, each access link 100 Mbit/s and 1 ms. `udp`: the rate of the stream, or "none".
    """
    if flows < 0 or flows > 10_000 or (flows == 0 and udp == "none"):
        raise FairlaneError("a comparison needs at least one flow, and at most 10000 TCP flows")
    stream = udp != "none"
    net = Network(name="TCP and UDP" if stream and flows else "TCP only" if flows else "UDP only", duration=duration, warmup=warmup)
    net.dumbbell(
        pairs=flows + stream,
        access={"rate": "100Mbit/s", "delay": "1ms"},
        bottleneck={"rate": CAPACITY, "delay": "20ms"},
    )
    if flows:
        many = flows > 1
        net.flow("tcp", "s{i}" if many else "s0", "d{i}" if many else "d0", spread="1s", tcp=tcp, count=flows if many else None)
    if stream:
        net.flow("udp", f"s{flows}", f"d{flows}", udp={}, source={"cbr": {"rate": udp, "size": "1000B", "jitter": 0.5}})
    return net


def compare(
    scenario: str | PathLike[str] | Network | None = None,
    *,
    queues: str | Iterable[Any] | None = None,
    tcp: str | Iterable[Any] | None = None,
    vary: Mapping[str, Any] | Iterable[tuple[str, Any]] | None = None,
    link: str | None = None,
    seeds: int | str | Iterable[int] | None = None,
    seed: int | None = None,
    sets: Mapping[str, Any] | Iterable[tuple[str, str]] = (),
    limit: str | None = None,
    margin: float | str = MARGIN,
    threads: int | None = None,
    why: bool = False,
    metrics: str | Iterable[str] = (),
    progress: StepProgress | None = None,
) -> Comparison:
    """Runs a scenario for each combination of levels of the varied factors, all with equal seeds.

    `scenario`: a file or `Network` (default: TCP flows and a UDP stream on a bottleneck of 10 Mbit/s and 20 ms).

    `queues`: text such as "red,codel{target=10ms},red:ns2", several such texts, or parameter classes; "all" means every queue without
    mandatory parameters. They replace the queue of `link` (default: `bottleneck`, or the only link). `tcp`: congestion controls for all TCP
    flows, such as "cubic,bbr,reno:linux"; other parameters of the flows stay. `vary`: paths of `--set` with their values, as
    "5Mbit/s,10Mbit/s" or a list.

    `seeds`: how many, such as 20, or which, such as "11..20" (default: 1 to 10); `seed`: a single run. `limit`: buffer limit for queues
    without their own. `margin`:
    equivalence margin as a share of the compared mean. `metrics`: names such as "flows.upload.delay_p95" or "links.*.loss_synchronisation"
    to compare instead of goodput, delay, loss and fairness; `*` stands for each group of flows or each link, with an aggregate
    (`flows.*.goodput.sum`) for all together. `why` records what limits flows, for the page and
    `settings[...].result.why()`. Warnings are issued as `ScenarioWarning`. `Simulation.compare` compares branches of a simulation.

    Raises:
        ScenarioError: a level is invalid in the scenario; the message names it.
        FairlaneError: a factor is invalid, unknown, or varied or set twice. No run has started.
    """
    wanted = either(seeds, seed)
    pairs: list[tuple[str, Any]] = list(sets.items()) if isinstance(sets, Mapping) else list(sets)
    source = default_network() if scenario is None else scenario
    base = resolve(source, pairs)
    if base.get("report") == "groups":
        raise FairlaneError('a comparison needs rows of flows, but the scenario has report = "groups": remove it, or set report=flows')
    chosen = parse_seeds("1..10" if wanted is None else wanted)
    share = margin_share(margin)
    name = _link(base, link, queues is None)
    given = [] if vary is None else list(vary.items() if isinstance(vary, Mapping) else vary)
    factors = read_factors(base, name, queues, tcp, given, limit, pairs)
    own_sample = bool(base.get("sample")) or any(split(p) == ("sample",) for f in factors for p in f.paths)
    if not own_sample:
        pairs.append(("sample", _sample(base["duration"])))
    named = read_metrics(metrics, base) if metrics else []
    factors, ready = _ready(source, pairs, factors)
    _all_different(factors, ready)
    done = []
    for i, (levels, resolved) in enumerate(ready):
        label = _label(factors, levels)

        def report(fraction: float, _runs: int, _events: int, i: int = i, label: str = label) -> bool:
            if progress is not None:
                progress((i + fraction) / len(ready), label)
            return True

        result = run_resolved(resolved, chosen, threads=threads, why=why, progress=None if progress is None else report)
        at = {f.name: level.label for f, level in zip(factors, levels, strict=True)}
        done.append(Compared(label, at, result, name, own_sample))
    call = _call(
        scenario,
        queues=queues,
        tcp=tcp,
        vary=given or None,
        link=link,
        seeds=seeds,
        seed=seed,
        sets=sets,
        limit=limit,
        why=why,
        metrics=metrics,
    )
    made = Comparison(done, name, factors, share, call, named)
    warn(made.warnings)
    return made


def _link(base: dict[str, Any], link: str | None, reported: bool) -> str:
    """Returns the link whose queue is compared, or (with `reported`) whose metrics are reported."""
    try:
        return chosen_link(base, link)
    except UnknownNameError:
        raise
    except FairlaneError as e:
        raise FairlaneError(str(e).replace("whose queue to replace", "which link to report") if reported else str(e)) from None


Setting = tuple[tuple[Level, ...], "_core.Resolved"]


def _ready(source: Any, pairs: list[tuple[str, Any]], factors: list[Factor]) -> tuple[list[Factor], list[Setting]]:
    """Resolves all settings before the first run, so that an error in the last level costs no runs."""
    ready: list[Setting] = []
    out: set[Level] = set()
    for levels in itertools.product(*(f.levels for f in factors)):
        if out.isdisjoint(levels):
            try:
                ready.append((levels, checked(source, [*pairs, *(s for level in levels for s in level.sets)])))
            except ScenarioError as e:
                if not any(level.optional for level in levels):
                    raise _explained(factors, levels, e) from None
                out |= {level for level in levels if level.optional}
    left = []
    for f in factors:
        kept = tuple(level for level in f.levels if level not in out)
        if not kept:
            raise FairlaneError(f"{f.option}: none of the {len(f.levels)} levels is valid in this scenario")
        left.append(Factor(f.name, f.option, f.paths, kept))
    return left, [x for x in ready if out.isdisjoint(x[0])]


def _all_different(factors: list[Factor], ready: list[Setting]) -> None:
    """Raises an error if two settings are the same scenario, with the level that has no effect."""
    seen: dict[str, tuple[Level, ...]] = {}
    for levels, resolved in ready:
        other = seen.setdefault(resolved.json(), levels)
        if other is not levels:
            f, a, b = next((f, a, b) for f, a, b in zip(factors, other, levels, strict=True) if a != b)
            raise FairlaneError(
                f"{f.option}: the levels {a.label!r} and {b.label!r} give the same scenario\n"
                "  = help: remove one of them, or vary another path"
            )


def _label(factors: list[Factor], levels: tuple[Level, ...]) -> str:
    """Returns the levels in which settings differ; all levels for a single setting."""
    differing = [level.label for f, level in zip(factors, levels, strict=True) if len(f.levels) > 1]
    return ", ".join(differing or [level.label for level in levels])


def _sample(duration: str) -> str:
    from ..base.format import seconds

    return f"{max(1, round(seconds(duration) * 1e6 / SAMPLES))}us"


def _explained(factors: list[Factor], levels: tuple[Level, ...], e: ScenarioError) -> ScenarioError:
    """Returns the problems of a setting with the level that causes them."""
    for f, level in zip(factors, levels, strict=True):
        own = [(d, p) for d in e.diagnostics for p, _ in level.sets if (d["path"] + ".").startswith(p + ".")]
        if not own:
            continue
        if f.option.startswith("vary ") and not _is_flow(f.paths[0]):
            break  # the core shows the value of a single path with a caret
        lines = []
        for message, hint in dict.fromkeys(
            (d["message"], (d.get("help") or "").replace("" if _is_flow(p) else p + ".", "")) for d, p in own
        ):
            option = "queue" if f.option == "queues" else f.option.removeprefix("vary ")
            lines.append(f"error: {option} {level.label!r}: {message}")
            if hint:
                lines.append(f"  = help: {hint}")
        return ScenarioError("\n".join(lines), [d for d, _ in own])
    text = e.rendered
    for f in factors:
        for path in f.paths:
            text = text.replace(f"--> --set {path}=", f"--> --{'vary' if f.option.startswith('vary ') else f.option} {path}=")
    at = ", ".join(f"{f.name} {level.label}" for f, level in zip(factors, levels, strict=True))
    return ScenarioError(f"{text.rstrip()}\n  = note: with {at}\n", e.diagnostics)


def _is_flow(path: str) -> bool:
    """Returns true for the path of a flow as a whole, whose value is longer than the word that stands for it."""
    keys = split(path) or ()
    return len(keys) == 2 and keys[0] == "flows"


def _call(scenario: Any, **given: Any) -> str:
    """Returns the Python call of `compare` with these arguments."""
    known: dict[str, Any] = {"sets": (), "why": False, "metrics": ()}
    what = [] if scenario is None else ["network" if isinstance(scenario, Network) else repr(fspath(scenario))]
    more = [f"{k}={_argument(dict(v) if k == 'vary' else v)}" for k, v in given.items() if v != known.get(k)]
    return f"fairlane.compare({', '.join([*what, *more])})"


def _argument(value: Any) -> str:
    if isinstance(value, (str, int, type(None))):
        return repr(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {_argument(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_argument(v) for v in value) + "]"
    return repr(value)
