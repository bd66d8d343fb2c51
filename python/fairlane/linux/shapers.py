"""HTB and HFSC: trees of classes with rates or service curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import quantities as q
from .plan import FULL_PACKET
from .trees import filters, patterns
from .words import link_layer

if TYPE_CHECKING:
    from collections.abc import Callable

    from .plan import Plan, Table

DIRECT = "direct"
"""`default` of packets that bypass the classes of HTB."""


def htb(plan: Plan, parent: str, handle: str, t: Table) -> None:
    """Writes htb with its classes."""

    def words(c: dict[str, Any], leaf: bool) -> list[object]:
        rate, ceil = c["rate"], c["ceil"]
        bps = plan.link.rate if rate is None else q.number(rate, "bit/s")
        most = bps if ceil is None else q.number(ceil, "bit/s")
        sizes = ["burst", q.size(c["burst"]), "cburst", q.size(c["cburst"])]
        own = ["prio", c["prio"], *(["quantum", q.size(c["quantum"])] if c["quantum"] is not None else [])] if leaf else []
        return ["htb rate", q.rate(bps), "ceil", q.rate(most), *sizes, *own, *link_layer(c)]

    direct = t["direct_limit"]
    limit = q.count(direct, FULL_PACKET)
    if q.packets(direct) is None:
        plan.note(f"htb.direct_limit is {direct} here; htb counts packets: {limit} of {FULL_PACKET} bytes")
    _tree(plan, parent, handle, t, ["r2q", t["rate2quantum"], "direct_qlen", limit], words)


def hfsc(plan: Plan, parent: str, handle: str, t: Table) -> None:
    """Writes hfsc with its classes."""

    def words(c: dict[str, Any], leaf: bool) -> list[object]:
        shared = c["ls"] or (None if c["rt"] else {"m1": None, "m2": f"{plan.link.rate}bit/s", "d": "0s"})
        return ["hfsc", *_curve("rt", c["rt"]), *_curve("ls", shared), *_curve("ul", c["ul"])]

    _tree(plan, parent, handle, t, [], words)


def _curve(word: str, curve: dict[str, Any] | None) -> list[object]:
    if curve is None:
        return []
    slope = q.rate(q.number(curve["m2"], "bit/s"))
    if curve["m1"] is None or not q.seconds(curve["d"]):
        return [word, "m2", slope]
    first = q.number(curve["m1"], "bit/s")
    return [word, "m1", q.rate(first) if first else "0bit", "d", q.time(q.seconds(curve["d"])), "m2", slope]


def _tree(
    plan: Plan, parent: str, handle: str, t: Table, head: list[object], words: Callable[[dict[str, Any], bool], list[object]]
) -> None:
    classes: list[dict[str, Any]] = t["classes"]
    ids = {c["name"]: f"{handle}{i:x}" for i, c in reversed(list(enumerate(classes, 1)))}
    above = [c["parent"] for c in classes]
    leaves = [i for i, c in enumerate(classes) if not c["name"] or c["name"] not in above]
    wanted = t["default"]
    last = leaves[-1]
    default = next((i for i in leaves if classes[i]["name"] == wanted), last)
    plan.page(t.name, "u32")
    plan.qdisc(parent, handle, t.name, "default", 0 if wanted == DIRECT else f"{default + 1:x}", *head)

    def depth(i: int) -> int:
        name = above[i]
        return 0 if name is None else 1 + depth(next(k for k, c in enumerate(classes) if c["name"] == name))

    for i in sorted(range(len(classes)), key=depth):
        c = classes[i]
        over = handle if above[i] is None else ids[above[i]]
        plan.tc("class add dev", plan.dev, "parent", over, "classid", f"{handle}{i + 1:x}", *words(c, i in leaves))
        if c["name"]:
            plan.note(f"class {handle}{i + 1:x}: {c['name']}")
    for i in leaves:
        plan.queue(f"parent {handle}{i + 1:x}", classes[i]["queue"])
    # Packets that match none go to the default.
    matched = [i for i in leaves if i != last or wanted is not None]
    filters(plan, handle, [(patterns(classes[i]), f"{handle}{i + 1:x}") for i in matched])
    if t["limit"] is not None:
        plan.note(f"{t.name}.limit: in the kernel only the queues of the classes have limits")
