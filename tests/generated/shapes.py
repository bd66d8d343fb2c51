"""Whole scenarios: a network, flows over it, what changes while it runs, and what is measured."""

from __future__ import annotations

import json
from typing import Any

from fairlane import _core

from .repair import checked
from .values import DEFS, Draw

Tree = dict[str, Any]
SOURCES = list(DEFS["SourceSpec"]["anyOf"][1]["properties"])
CARRIERS = ("tfrc", "rap")
NO_UDP = ("bulk", "file")
"""Sources that want a transport which controls its rate, or a rate of their own."""
CONTROLS = [n for n in DEFS["TcpParams"]["properties"]["cc"]["anyOf"][1]["properties"] if n != "plugin"]
CALM = {"name": "calm", "duration": "1ms", "flows": {"f": {"pairs": {"random": {"count": 1}}, "udp": {}, "source": "voip"}}}
SPANS = ("1ns", "7us", "1ms", "33ms", "100ms", "300ms", "500ms", "1s", "1s", "1500ms", "2s", "3s", "5s", "20s")


def scenario(seed: int) -> tuple[Tree, list[str]]:
    """The scenario of this number, and what was wrong with messages that refused its network."""
    draw = Draw(seed)
    tree: Tree = {"duration": draw.pick(SPANS), "seed": draw.below(1000)}
    span = _core.picoseconds(tree["duration"])
    if draw.chance(0.4):
        tree["warmup"] = ps(int(span * draw.pick((0.01, 0.1, 0.3, 0.5, 0.9))))
    if draw.chance(0.4):
        tree["sample"] = ps(max(1000, span // draw.pick((1, 3, 7, 10, 50, 100))))
    for key, p in (("report", 0.1), ("routing", 0.25), ("route_by", 0.2)):
        if draw.chance(p):
            tree[key] = draw.of({"report": "ReportSpec", "routing": "RoutingSpec", "route_by": "RouteBy"}[key])
    roll = draw.below(20)
    if roll < 12:
        name = draw.pick(list(DEFS["TopologySpec"]["anyOf"][1]["properties"]))
        tree["topology"] = {name: draw.value(DEFS["TopologySpec"]["anyOf"][1]["properties"][name], name)}
    elif roll < 17:
        tree["links"] = links(draw)
    else:
        tree["wireless"] = wireless(draw)
        if draw.chance(0.3):
            tree["links"] = {
                "wire": draw.of("LinkSpec", **{"from": "n0", "to": "server", "rate": usual(draw, "fl-rate"), "delay": "5ms", "trace": None})
            }
    nodes, names, wrong = inside(tree)
    tree["flows"] = {f"f{k}": flow(draw, nodes, names, span) for k in range(1 + draw.below(4))}
    if draw.chance(0.08):
        tree["control"] = control(draw, tree["flows"])
    if draw.chance(0.2) and names:
        tree["at"] = changes(draw, tree, names, span)
    if draw.chance(0.05) and "links" in tree:
        tree["reroute"] = draw.quantity("fl-dur")
    return tree, wrong


def ps(n: int) -> str:
    """A time in picoseconds as text."""
    return f"{max(n, 0)}ps"


def usual(draw: Draw, form: str) -> str:
    """A quantity that is not odd, mostly."""
    return draw.quantity(form, odd=0.15)


def links(draw: Draw) -> Tree:
    """Links of a chain or a mesh, one by one."""
    nodes = [f"n{k}" for k in range(2 + draw.below(4))]
    ends = [(nodes[k - 1] if draw.chance(0.6) else draw.pick(nodes[:k]), nodes[k]) for k in range(1, len(nodes))]
    ends += [(a, b) for a, b in [(draw.pick(nodes), draw.pick(nodes))] if a != b and draw.chance(0.5)]
    made = {}
    for k, (a, b) in enumerate(ends):
        rate = usual(draw, "fl-rate")
        own = {"from": a, "to": b, "rate": rate, "delay": draw.quantity("fl-dur", most="3s"), "duplex": None, "trace": None}
        if draw.chance(0.06):
            own |= {"rate": None, "trace": "data/cellular.down", "rates": None}
        elif draw.chance(0.06):
            profile = {"file": draw.pick(("leo", "5g_drive", "cable")), "overtaking": draw.chance(0.5), "repeat": draw.chance(0.5)}
            own |= {"rate": None, "delay": None, "rates": None, "profile": profile}
        made[f"l{k}"] = draw.of("LinkSpec", **own)
    return made


def wireless(draw: Draw) -> Tree:
    """A channel with a few stations near to one another, mostly."""
    reach = draw.pick((1.0, 10.0, 30.0, 80.0, 300.0))
    count = 2 + draw.below(4)
    places = {f"n{k}": [round(draw.below(1000) * reach / 1000, 3), round(draw.below(1000) * reach / 1000, 3)] for k in range(count)}
    fixed: dict[str, Any] = dict.fromkeys(
        ("grid", "ring", "scatter", "access_point", "access_points", "queues", "walks", "random_waypoint")
    )
    fixed |= {"nodes": places, "rate": None, "control_rate": None}
    if draw.chance(0.25):
        kind = draw.pick(("grid", "ring", "scatter"))
        size = {"grid": {"spacing_m": reach}, "ring": {"count": count, "radius_m": reach}}
        table = size.get(kind, {"count": count, "width_m": reach, "height_m": reach})
        fixed[kind] = {**table, **({"columns": count} if kind == "grid" else {})}
        fixed["nodes"] = None
    roll = draw.below(20)
    if roll < 4:
        fixed["access_point"] = "n0"
    elif roll < 6:
        fixed["access_points"] = ["n0", "n1"]
    if draw.chance(0.3):
        fixed["queues"] = {"n0": draw.of("QueueSpec")}
    if draw.chance(0.15):
        points = [{"at": draw.pick(("0s", "10ms", "1s")), "place": [round(draw.below(100) * reach / 50, 2), 0.0]} for _ in range(2)]
        fixed["walks"] = {"n1": {"points": points}}
    if draw.chance(0.1):
        fixed["random_waypoint"] = draw.of("RandomWaypointSpec", stations=None)
    return {"air": draw.of("ChannelSpec", **fixed)}


def inside(tree: Tree) -> tuple[list[str], list[str], list[str]]:
    """Names of nodes and of link directions of a network, asked of the program itself; what it refuses is taken out of the tree.

    The last of the three is what was wrong with its messages.
    """
    keys = ("topology", "links", "wireless")
    resolved, whole, wrong = checked({**CALM, **{k: tree[k] for k in keys if k in tree}})
    for key in keys:
        tree.pop(key, None)
    tree |= {k: whole[k] for k in keys if k in whole}
    if resolved is None:
        return ["s0", "d0"], [], wrong
    expanded = json.loads(resolved.json())["expanded"]
    air = {c["name"] for c in expanded.get("channels", ())}
    return [n for n in expanded["nodes"] if n not in air], [x["name"] for x in expanded["links"] if x["to"] not in air], wrong


def flow(draw: Draw, nodes: list[str], names: list[str], span: int) -> Tree:
    """A group of flows between nodes of the network."""
    fixed: dict[str, Any] = {
        k: None for k in ("from", "to", "pairs", "load", "tcp", "udp", "source", "start", "stop", "spread", "stagger", "first")
    }
    fixed |= {"permute": None, "room": None}
    roll = draw.below(20)
    count = 1 + draw.few(0.7)
    if roll < 17 or len(nodes) < 2:
        a, b = draw.some(nodes, 2) if len(nodes) > 1 else (nodes[0], nodes[0])
        fixed["from"], fixed["to"] = (a, b) if draw.chance(0.5) else (b, a)
        fixed["count"] = min(count, 6)
        if "s0" in nodes and "d0" in nodes and draw.chance(0.3):
            fixed |= {"from": "s{i}", "to": "d{i}", "permute": draw.chance(0.3)}
    elif roll < 19:
        fixed["pairs"] = pairs(draw, nodes, min(count, 4))
    else:
        fixed["load"] = {"link": draw.pick(names) if names else "none", "share": draw.pick((0.0, 0.1, 0.5, 1.0, 3.0))}
        fixed["count"] = min(count, 4)
    for key, p in (("start", 0.3), ("spread", 0.15), ("stagger", 0.15)):
        if draw.chance(p):
            fixed[key] = ps(int(span * draw.pick((0.0, 0.1, 0.3, 0.7)) / (3 if key != "start" else 1)))
    if draw.chance(0.2):
        fixed["stop"] = ps(int(span * draw.pick((0.3, 0.71, 0.9, 1.0, 2.0))))
    if draw.chance(0.15):
        fixed["room"] = 6
    fixed["amount"] = draw.quantity("fl-bytes", "1B") if draw.chance(0.25) else None
    udp = draw.chance(0.4)
    source = draw.pick(SOURCES)
    carried = source in CARRIERS
    if udp and source in NO_UDP and draw.chance(0.95):
        source = "cbr"
    if not udp and carried and draw.chance(0.95):
        source = "bulk"
    if carried and udp and draw.chance(0.9):
        inner = draw.pick([s for s in SOURCES if s not in (*CARRIERS, "web", "request_response", "replay")])
        table = draw.value(DEFS["SourceSpec"]["anyOf"][1]["properties"][source], source, {"source": inner})
        fixed["amount"] = None if draw.chance(0.8) else fixed["amount"]
    else:
        data = {"file": "data/call.txt"} if source == "replay" else {}
        table = draw.value(DEFS["SourceSpec"]["anyOf"][1]["properties"][source], source, data)
    fixed["source"] = {source: table}
    fixed["udp" if udp else "tcp"] = draw.of("UdpParams", **({} if draw.chance(0.3) else {"rate": None})) if udp else tcp(draw)
    return draw.of("FlowSpec", **fixed)


def pairs(draw: Draw, nodes: list[str], count: int) -> Tree:
    """Who sends to whom, in one of the ways to say so."""
    roll = draw.below(4)
    among = {"among": draw.some(nodes, 4)} if draw.chance(0.4) else {}
    if roll == 0:
        a, b = draw.some(nodes, 2)
        return {"matrix": {"demands": [{"from": a, "to": b, "rate": usual(draw, "fl-rate")}, {"from": b, "to": a}][: 1 + draw.below(2)]}}
    if roll == 1:
        return {**among, "gravity": {"count": count, "seed": draw.below(5)}}
    if roll == 2 and among:
        return among
    return {**among, "random": {"count": count, "seed": draw.below(5)}}


def tcp(draw: Draw) -> Any:
    """TCP: a control by name, or with parameters."""
    name = draw.pick(CONTROLS)
    if draw.chance(0.25):
        return name
    own = DEFS["TcpParams"]["properties"]["cc"]["anyOf"][1]["properties"][name]
    cc = name if draw.chance(0.5) else {name: draw.value(own, name)}
    fixed: dict[str, Any] = {"cc": cc, "recovery": None} if draw.chance(0.9) else {"cc": cc}
    if draw.chance(0.4):
        fixed["preset"] = draw.of("Preset")
    return draw.of("TcpParams", **fixed)


def control(draw: Draw, flows: Tree) -> Tree:
    """Controls of sources, and the classes that they look at."""
    for own in flows.values():
        own["class"] = [1 + draw.below(6) for _ in range(2)]
    name = draw.pick(("time_slots", "congestion_signal"))
    kind = {"time_slots": "TimeSlotsParams", "congestion_signal": "CongestionSignalParams"}[name]
    return {name: draw.of(kind, nodes=None, flows=None, **({"slot": usual(draw, "fl-dur")} if name == "time_slots" else {}))}


def changes(draw: Draw, tree: Tree, names: list[str], span: int) -> list[Tree]:
    """Draws the changes during the run."""
    made = []
    for k in range(1 + draw.below(3)):
        link, group = draw.pick(names), draw.pick(sorted(tree["flows"]))
        roll = draw.below(8)
        what, value = (
            (f"links.{link}.rate", usual(draw, "fl-rate")),
            (f"links.{link}.delay", draw.quantity("fl-dur")),
            (f"links.{link}.queue", draw.of("QueueSpec")),
            (f"links.{link}.queue", draw.of("QueueSpec")),
            (f"links.{link}.loss", draw.pick((0.0, 0.1, 1.0))),
            (f"links.{link}.duplicate", draw.pick((0.0, 0.1, 1.0))),
            (f"flows.{group}.count", 1 + draw.below(6)),
            (f"flows.{group}.stop", ps(int(span * 0.8))),
        )[roll]
        # Not at the end of a warm-up, where events of one instant fall on both sides.
        change: Tree = {"time": ps(int(span * (k + 1) / 4) + 1), "set": {what: value}}
        if draw.chance(0.3):
            change["waiting"] = draw.of("Waiting")
        made.append(change)
    return made
