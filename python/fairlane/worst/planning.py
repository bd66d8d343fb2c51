"""From the arguments of a search to its plan; whatever is wrong is an error before anything runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

from ..base.metrics import metrics_in
from ..base.scenario import checked, checked_pairs
from ..errors import ArgumentError, suggest
from ..runs import selection
from ..runs.network import Network
from . import paths, reader
from .changes import Capacity, Change
from .model import Objective, WorstSpec

SHARES = ("goodput", "throughput")
"""Metrics of a flow that are divided by the rate that the path leaves: else the slowest path would be the worst."""
FRESH = 8
"""Seeds of the confirmation."""


@dataclass(frozen=True)
class Asked:
    """Arguments of a search."""

    scenario: Network | Mapping[str, Any] | str | PathLike[str] | None = None
    tcp: Any = None
    reference: Any = None
    competitor: Any = None
    pair: bool = False
    queue: Any = None
    traffic: str | Sequence[str] = ("tcp", "udp")
    flow: str | None = None
    link: str | None = None
    least: str | None = None
    most: str | None = None
    may: str | Sequence[str] | None = None
    sets: tuple[tuple[str, str], ...] = ()


def plan(asked: Asked, **settings: Any) -> WorstSpec:
    """Returns the search; `settings` are its seeds, its number of paths and its plug-ins."""
    _exclusive(asked)
    net, path = _network(asked)
    for key, value in asked.sets:
        net.set(key, _parsed(value))
    resolved = json.loads(checked(net, asked.sets if asked.scenario is not None else ()).json())
    flows = path.flows if path is not None else _flows(asked, resolved)
    link = asked.link or (path.link if path is not None else _slowest(resolved))
    place = reader.Place(resolved, link, path.paths if path is not None else {}, path.most if path is not None else {})
    place.direction(link)
    may = asked.may if asked.may is not None else (path.may if path is not None else _usual(place))
    changes = reader.read(may, place)
    own, other = _sides(asked, flows)
    net.set(own)
    base = dict(net.to_dict())
    for change in changes:
        _check(net, change)
    if other:
        checked(net.replace(other))
    duration, warmup = place.duration(), reader.number(resolved.get("warmup") or "0s", "warmup")[0]
    rate = place.direction(link).get("rate")
    capacity = Capacity(link, reader.number(rate, "rate")[0] if rate else 0, warmup, duration, changes)
    return WorstSpec(
        name=_name(asked, flows), tree=base, shown=net.shown, given=_given(asked), subject=_subject(asked, flows),
        reference=_word(asked.reference), other=other, objective=_objective(asked, flows, link, resolved, capacity),
        changes=changes, capacity=capacity, flows=flows, **settings,
    )  # fmt: skip


def _exclusive(a: Asked) -> None:
    ways = {
        "a scenario": a.scenario is not None,
        "--pair": a.pair,
        "--competitor": a.competitor is not None,
        "--queue": a.queue is not None,
    }
    given = [name for name, on in ways.items() if on]
    if len(given) > 1:
        raise ArgumentError(f"{given[0]} and {given[1]} exclude each other: each says which flows there are")
    if a.scenario is None and a.tcp is None and a.queue is None:
        raise ArgumentError("nothing to search: give a scenario, --tcp NAME or --queue NAME")
    if a.queue is not None and a.tcp is not None:
        raise ArgumentError("--tcp and --queue exclude each other: --traffic says which flows a queue has")
    if a.least is not None and a.most is not None:
        raise ArgumentError("--least and --most exclude each other: give one metric")
    if a.reference is not None and a.scenario is not None and a.tcp is None:
        raise ArgumentError("--reference needs --tcp: the control that the flow has instead")
    if a.flow is not None and a.scenario is None:
        raise ArgumentError("--flow names a flow of a scenario: give its file")


def _network(a: Asked) -> tuple[Network, paths.Path | None]:
    if isinstance(a.scenario, Network):
        return a.scenario.replace({}), None
    if isinstance(a.scenario, Mapping):
        net = Network(duration="1s")
        net.set(dict(a.scenario))
        return net, None
    if a.scenario is not None:
        return Network.from_file(fspath(a.scenario)), None
    if a.queue is not None:
        words = a.traffic.split(",") if isinstance(a.traffic, str) else a.traffic
        path = paths.queue(a.queue, [w.strip() for w in words if w.strip()])
    elif a.pair or a.competitor is not None:
        path = paths.pair(a.tcp, a.tcp if a.pair else a.competitor)
    else:
        path = paths.single(a.tcp)
    net = Network(duration="1s")
    net.set(path.tree)
    return net, path


def _parsed(value: str) -> Any:
    """Returns a value of `--set`: TOML, or text as it is."""
    import tomllib

    try:
        return tomllib.loads(f"x = {value}")["x"]
    except tomllib.TOMLDecodeError:
        return value


def _flows(a: Asked, resolved: Mapping[str, Any]) -> tuple[str, ...]:
    groups = list(resolved.get("flows") or {})
    if a.flow is not None:
        if a.flow not in groups:
            raise suggest(a.flow, groups, "flow")
        return (a.flow,)
    if not groups:
        raise ArgumentError("the scenario has no flow")
    if len(groups) > 1 and a.tcp is not None:
        raise ArgumentError(f"--tcp needs --flow: the scenario has the flows {', '.join(groups[:8])}")
    return (groups[0],) if len(groups) == 1 else tuple(groups)


def _slowest(resolved: Mapping[str, Any]) -> str:
    links = [x for x in resolved["expanded"]["links"] if not x["name"].endswith(".reverse") and x.get("rate")]
    if not links:
        raise ArgumentError("no link of the scenario has a rate: name one with --link")
    return str(min(links, key=lambda x: (reader.number(x["rate"], "rate")[0], x["name"]))["name"])


def _usual(place: reader.Place) -> str:
    words = ["loss", "jitter", "steps", "square", "outages", "bursts", "cross"]
    queue = place.direction(place.link).get("queue")
    limited = isinstance(queue, Mapping) and "limit" in next(iter(queue.values()))
    return ",".join(["rate", "delay", *(["queue"] if limited else []), *words])


def _sides(a: Asked, flows: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the values by path of the subject and of the reference."""
    if a.queue is not None:
        return {}, {} if a.reference is None else {"links.line.queue": a.reference}
    mine = flows if a.pair else flows[:1]
    own = {} if a.tcp is None else {f"flows.{f}.tcp": a.tcp for f in mine}
    return own, {} if a.reference is None else {f"flows.{f}.tcp": a.reference for f in mine}


def _check(net: Network, change: Change) -> None:
    """Checks both ends of a range; raises the `ScenarioError` of `--set`."""
    fixed = [[g.low for g in change.fixed], [g.high for g in change.fixed]]
    for ends in fixed:
        item = tuple(g.low for g in change.item)
        checked(net, checked_pairs(change.sets((*ends, *item))))


def _objective(a: Asked, flows: tuple[str, ...], link: str, resolved: Mapping[str, Any], capacity: Capacity) -> Objective:
    given = a.least or a.most or ("unfairness" if a.pair else "delay_p99" if a.queue is not None else "goodput")
    most = a.most is not None or (a.least is None and given != "goodput")
    known = {t: {m.name for m in metrics_in(t)} for t in ("flows", "links", "network")}
    if given == "unfairness":
        if a.pair or a.competitor is not None:
            texts = [f"flows.{f}.goodput" for f in flows]
        else:
            texts = [f"flows.{flows[0]}.goodput.jain" if len(flows) == 1 else "network.jain"]
        return Objective(given, most, tuple(selection.selector(t) for t in texts), unfair=True)
    if "." in given:
        chosen = selection.selector(given)
    else:
        order = ("links", "network", "flows") if a.queue is not None else ("flows", "links", "network")
        table = next((t for t in order if given in known[t]), None)
        if table is None:
            raise suggest(given, ["unfairness", *sorted(set().union(*known.values()))], "metric")
        if table == "flows" and len(flows) > 1 and not (a.pair or a.competitor is not None):
            raise ArgumentError(f"{given} is a metric of a flow: name one with --flow, such as --flow {flows[0]}")
        name = {"flows": f".{flows[0]}", "links": f".{link}", "network": ""}[table]
        chosen = selection.selector(f"{table}{name}.{given}")
    selection.names(chosen, selection.row_names(resolved))
    share = chosen.table == "flows" and chosen.metric in SHARES and chosen.aggregate != "jain" and capacity.rate > 0
    return Objective(given, most, (chosen,), share=share, unit="1" if share else selection.unit_of(chosen))


def _word(x: Any) -> str:
    if x is None:
        return ""
    if isinstance(x, Mapping):
        return str(x["cc"] if isinstance(x.get("cc"), str) else next(iter(x)))
    return str(getattr(x, "_name", None) or getattr(x, "__name__", x))


def _subject(a: Asked, flows: tuple[str, ...]) -> str:
    return _word(a.queue) or _word(a.tcp) or (flows[0] if len(flows) == 1 else "the network")


def _given(a: Asked) -> str:
    return fspath(a.scenario) if isinstance(a.scenario, (str, PathLike)) else ""


def _name(a: Asked, flows: tuple[str, ...]) -> str:
    other = f"-{_word(a.reference)}" if a.reference is not None else f"-with-{_word(a.competitor)}" if a.competitor is not None else ""
    return f"worst-{_subject(a, flows).replace(' ', '-')}{'-pair' if a.pair else other}"


def words(a: Asked, options: Iterable[tuple[str, Any]] = ()) -> tuple[str, ...]:
    """Returns the words of the command that states a search."""
    said: list[str] = [] if not _given(a) else [_given(a)]
    traffic = None if a.queue is None else a.traffic if isinstance(a.traffic, str) else ",".join(a.traffic)
    may = a.may if a.may is None or isinstance(a.may, str) else ",".join(a.may)
    named = (("tcp", a.tcp), ("reference", a.reference), ("competitor", a.competitor), ("queue", a.queue), ("traffic", traffic),
             ("flow", a.flow), ("link", a.link), ("least", a.least), ("most", a.most), ("may", may), *options)  # fmt: skip
    for name, value in named:
        if value is not None:
            said += [f"--{name}", _word(value)]
    if a.pair:
        said.append("--pair")
    return (*said, *(w for k, v in a.sets for w in ("--set", f"{k}={v}")))
