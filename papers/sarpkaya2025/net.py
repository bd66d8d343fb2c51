"""The scenario of a combination: queue and competitor as the test bed configures them, in a setting of what is not stated."""

from __future__ import annotations

from collections.abc import Mapping

from fairlane.papers import Tree, Value, copy_tree, quantity

from .opens import OLD

COMPETITORS = ("CUBIC", "CUBIC-ECN", "BBRv1", "BBRv3", "BBRv3-ECN")
SINGLE = ("FIFO", "FIFO-ECN", "CoDel", "CoDel-ECN", "PIE")
"""Queues that both flows share."""
APART = ("FQ", "FQ-CoDel", "FQ-CoDel-L4S", "DualPI2")
"""Queues that keep the flows apart."""
QUEUES = SINGLE + APART
BUFFERS = ("0.5", "1", "2", "4", "8")
BDP = 125_000
"""Bytes of 100 Mbit/s in 10 ms."""
FRAME = 1514
"""Bytes of a packet at the router, with its Ethernet header."""
_NETEM = 5e-3
"""Seconds of netem each way."""


def alike(competitor: str, queue: str, buffer: str) -> tuple[str, str, str]:
    """The combination that is the same packet for packet, and is run for all of its kind.

    Queues that do not mark treat packets with ECT as those without, and DualPI2 always has its default limit.

    >>> alike("CUBIC-ECN", "PIE", "4"), alike("CUBIC-ECN", "DualPI2", "4")
    (('CUBIC', 'PIE', '4'), ('CUBIC-ECN', 'DualPI2', '2'))
    """
    if queue in ("FIFO", "CoDel", "PIE"):
        competitor = competitor.removesuffix("-ECN")
    return competitor, queue, "2" if queue == "DualPI2" else buffer


def queue_of_cell(blocks: Tree, competitor: str, queue: str, buffer: str) -> Tree:
    """The queue at the bottleneck. Its limit in packets is that of the notebook: n BDP / 1500 B, plus one; bfifo counts frames."""
    limit = f"{int(float(buffer) * BDP / 1500) + 1}p"
    found: Tree = copy_tree(blocks["queue"][queue])
    if queue == "DualPI2":
        return found
    if queue == "FIFO":
        found["droptail"]["limit"] = f"{int(float(buffer) * BDP) // FRAME}p"
        return found
    inner = {"FQ": ("marked", "marked")}.get(queue)
    if (competitor, queue) == ("CUBIC-ECN", "FQ-CoDel-L4S"):  # fairlane's ce_threshold has no selector: ECT(0) gets a queue without it
        found, inner = {"drr": {"quantum": "1514B"}}, ("l4s", "classic")
    (kind,) = found
    found[kind]["limit"] = limit
    if inner:
        classes = [(f"flow:{flow}", copy_tree(blocks["inner"][name])) for flow, name in zip(("prague", "competitor"), inner, strict=True)]
        for _, own in classes:
            own["codel"]["limit"] = limit
        found[kind]["classes"] = [{"match": match, "queue": own} for match, own in classes]
    return found


def scenario(base: Tree, blocks: Tree, key: tuple[str, str, str], values: Mapping[str, Value], seed: int) -> Tree:
    """The scenario of a combination (competitor, queue, buffer) in a setting."""
    t = copy_tree(base)
    competitor, queue, buffer = key
    t["name"] = f"Prague against {competitor}, {queue}, {buffer} BDP"
    t["seed"] = seed
    t["links"]["bottleneck"]["queue"] = queue_of_cell(blocks, competitor, queue, buffer)
    netem = t["links"]["netem"]
    netem["delay"] = f"{1e6 * (_NETEM + quantity(str(values['hosts and switches'])) / 2):.3f}us"
    for way in (netem, netem["reverse"]):
        way["jitter"]["width"] = values["path jitter"]
    old = values["Prague version"] == OLD
    prague, other = (t["flows"][name] for name in ("prague", "competitor"))
    prague["tcp"]["cc"] = {"prague": {"transition": 500 if old else 4}}
    prague["tcp"]["pacing_segments"] = 2 if old else 1
    other["tcp"] = {"preset": prague["tcp"]["preset"], **copy_tree(blocks["competitor"][competitor])}
    for flow in (prague, other):
        flow["spread"] = values["starts"]
        flow["tcp"]["timer_slack"] = f"{2 * 1e3 * quantity(str(values['clock tick'])):g}ms"
        if not values["bursts of segments"]:
            flow["tcp"].update(tso=False, pacing_burst="0s", pacing_segments=1)
    return t
