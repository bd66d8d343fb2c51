"""Static model of a network for the page: nodes with their positions, links and flows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import _core
from ..base.literals import si
from ..graphs.network import graph_of, shown, way_of
from ..graphs.positions import node_positions
from ..look.theme import flow_numbers, link_numbers

if TYPE_CHECKING:
    from ..runs.simulation import Simulation

STATES = ("", "open", "disorder", "cwr", "recovery", "loss")
"""Sender states in the numbering of the core."""
MOST_NODES = 5000
"""Most nodes of a network that is drawn, as in `fairlane draw`."""


def network_model(sim: Simulation, resolved: Mapping[str, Any], title: str) -> dict[str, Any]:
    """Returns names, positions, links and flows; `resolved`: the expanded scenario."""
    from ..errors import FairlaneError

    found = resolved["expanded"]
    if len(found["nodes"]) > MOST_NODES:
        raise FairlaneError(
            f"{len(found['nodes'])} nodes are too many to draw: the limit is {MOST_NODES}\n"
            "  = help: `fairlane run` simulates this network; `fairlane draw -o network.graphml` exports it to a tool for large graphs"
        )
    graph = graph_of(resolved, title)
    at = node_positions(graph)
    nodes: list[dict[str, Any]] = [
        {"name": n.name, "x": round(at[n.name][0], 1), "y": round(at[n.name][1], 1), "end": n.sends or n.receives} for n in graph.nodes
    ]
    number = {n.name: i for i, n in enumerate(graph.nodes)}
    ways: list[dict[str, Any]] = []
    for link in graph.links:
        ways.append(_way(link.name, number[link.start], number[link.end], link.there))
        if link.back is not None:
            ways.append(_way(f"{link.name}.reverse", number[link.end], number[link.start], link.back))
    # A station sends to its channel, which stands in the middle of its stations.
    for channel in found.get("channels", []):
        own = [x for x in found["links"] if x["to"] == channel["name"]]
        number[channel["name"]] = len(nodes)
        middle = {k: round(sum(nodes[number[x["from"]]][k] for x in own) / max(1, len(own)), 1) for k in ("x", "y")}
        nodes.append({"name": channel["name"], **middle, "end": False})
        ways += [_way(x["name"], number[x["from"]], number[channel["name"]], way_of(x)) for x in own]
    by_name = {w["name"]: w for w in ways}
    links = [by_name[name] for name in sim.links]
    order = {w["name"]: i for i, w in enumerate(links)}
    hues = link_numbers([*sim.links])
    for w in links:
        w["hue"] = hues[w["name"]]
        other = w["name"].removesuffix(".reverse") if w["name"].endswith(".reverse") else f"{w['name']}.reverse"
        w["other"] = order.get(other, -1)
    hues = flow_numbers((f["group"], f["name"]) for f in found["flows"])
    flows = [
        {
            "name": f["name"], "from": number[f["from"]], "to": number[f["to"]], "group": f["group"], "transport": str(f["transport"]),
            "mss": _segment(resolved["flows"].get(f["group"]) or {}), "hue": hues[f["name"]],
        }
        for f in found["flows"]
    ]  # fmt: skip
    return {
        "name": graph.title or title, "nodes": nodes, "links": links, "flows": flows, "states": list(STATES),
        "map": bool(found.get("channels")),
        "pace": _pace(ways), "seed": sim.seed, "duration": sim._core.end // 1000,
        "warmup": span(str(resolved.get("warmup") or "0s"), "warm-up"),
    }  # fmt: skip


def _way(name: str, start: int, end: int, way: Any) -> dict[str, Any]:
    kind, parameters = next(iter(way.queue.items()))
    return {
        "name": name, "from": start, "to": end, "rate": shown(way.rate, "bit/s"), "delay": shown(way.delay, "s"), "queue": str(kind),
        "bits": si(way.rate) or 0.0, "lag": si(way.delay) or 0.0,
        "limit": _limit(parameters.get("limit") if isinstance(parameters, Mapping) else None),
    }  # fmt: skip


def state_of(sim: Simulation) -> dict[str, Any]:
    """Returns the expanded scenario with all changes so far."""
    return expanded(_core.resolve(sim._core.state(), "the simulation", "json", []).json())


def queue_of(now: Mapping[str, Any], link: str) -> tuple[str, dict[str, Any], float]:
    """Returns the queue of a link with its parameters, and the loss ratio of the link."""
    way = next(x for x in now["expanded"]["links"] if x["name"] == link)
    kind, parameters = next(iter(way["queue"].items()))
    loss = way.get("loss")
    return kind, dict(parameters) if isinstance(parameters, Mapping) else {}, float(loss) if isinstance(loss, int | float) else 0.0


def running_groups(now: Mapping[str, Any], time: int) -> dict[str, bool]:
    """Returns for each group of flows True if any of its flows runs at a time in picoseconds."""
    groups: dict[str, bool] = {}
    for flow in now["expanded"]["flows"]:
        start, stop = (None if flow[key] is None else _core.picoseconds(flow[key]) for key in ("start", "stop"))
        runs = start is not None and start <= time and (stop is None or stop > time)
        groups[flow["group"]] = groups.get(flow["group"], False) or runs
    return groups


def _segment(group: Mapping[str, Any]) -> float:
    """Returns the segment size of a flow in bytes, which is one packet of a window."""
    mss = (group.get("tcp") or {}).get("mss")
    return _core.quantity("len", mss)[0] if isinstance(mss, str) and _core.quantity_kind(mss) == "len" else 1460.0


def _pace(ways: list[dict[str, Any]]) -> float:
    """Returns the longest time in seconds that a packet spends on a link."""
    return max((12_000 / w["bits"] if w["bits"] else 0.0) + w["lag"] for w in ways) if ways else 0.1


def _limit(text: object) -> float:
    """Returns the limit of a queue in packets, an estimate for a limit in bytes; 0 if unlimited or unknown."""
    if not isinstance(text, str):
        return 0.0
    if _core.quantity_kind(text) != "len":
        return 0.0
    size, packets = _core.quantity("len", text)
    return size if packets else max(1.0, size / 1000)


def expanded(text: str) -> dict[str, Any]:
    """Parses the JSON of an expanded scenario."""
    tree: dict[str, Any] = json.loads(text)
    return tree


def span(text: str, what: str) -> int:
    """Parses a time such as "20s" to nanoseconds."""
    from ..errors import FairlaneError

    try:
        return _core.picoseconds(text) // 1000
    except FairlaneError:
        raise FairlaneError(f"{what} {text!r} is not a time: write a number with its unit, such as 20s or 500ms") from None
