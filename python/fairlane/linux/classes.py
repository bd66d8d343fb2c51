"""Disciplines with classes (prio, wrr, tbf) or virtual queues (wred, rio)."""

from __future__ import annotations

from typing import Any

from . import quantities as q
from .plan import FULL_PACKET, Plan, Table, named
from .trees import filters, patterns
from .words import link_layer

MOST_BANDS = 16
"""Bands of tc-prio(8) and tc-ets(8); priorities of a priomap."""
MOST_VIRTUAL = 16
"""Virtual queues of gred (MAX_DPs in linux/pkt_sched.h)."""


def _children(plan: Plan, handle: str, classes: list[dict[str, Any]]) -> None:
    for i, entry in enumerate(classes, 1):
        plan.queue(f"parent {handle}{i:x}", entry["queue"])
    # Packets without a filter go to the last band by the priomap.
    filters(plan, handle, [(patterns(c), f"{handle}{i:x}") for i, c in enumerate(classes, 1) if i < len(classes)])


def _too_many(plan: Plan, t: Table, classes: list[dict[str, Any]]) -> bool:
    if len(classes) <= MOST_BANDS:
        return False
    plan.missing.append(f"{t.name} with {len(classes)} classes")
    plan.note(f"{t.name} has at most {MOST_BANDS} classes in the kernel")
    return True


def _shared_limit(plan: Plan, t: Table) -> None:
    if t["limit"] is not None:
        plan.note(f"{t.name}.limit: in the kernel only the queues of the classes have limits")


def prio(plan: Plan, parent: str, handle: str, t: Table) -> None:
    """Writes prio with a filter per class."""
    classes = t["classes"]
    if _too_many(plan, t, classes):
        return
    bands = max(2, len(classes))
    last = len(classes) - 1
    plan.page("prio", "u32")
    plan.qdisc(parent, handle, "prio bands", bands, "priomap", *[last] * MOST_BANDS)
    _children(plan, handle, classes)
    _shared_limit(plan, t)
    for note in t.left({"yields": False}):
        plan.note(note)


def wrr(plan: Plan, parent: str, handle: str, t: Table) -> None:
    """Writes ets, whose bands share by quanta in bytes."""
    classes = t["classes"]
    if not classes:
        plan.missing.append("wrr without classes")
        plan.note(f"queue = {named(t['queue'])[0]} for each flow: the nearest is sfq, or drr with a flow filter")
        return
    if _too_many(plan, t, classes):
        return
    by_packet = t["count"] == "packets"
    unit = FULL_PACKET if by_packet else q.size(t["quantum"])
    quanta = [unit * c["weight"] for c in classes]
    plan.page("ets", "u32")
    plan.qdisc(parent, handle, "ets bands", len(classes), "quanta", *quanta, "priomap", *[len(classes) - 1] * MOST_BANDS)
    _children(plan, handle, classes)
    if by_packet:
        plan.note(f"Linux does not count turns in packets: a packet is taken as {unit} bytes, so shares agree only for packets of one size")
    else:
        plan.note(
            "ets lets a packet go only if the quantum covers it whole (DRR); here the last packet of a turn may pass it and pays later"
        )
    _shared_limit(plan, t)
    t.settled("queue", "quantum")


def tbf(plan: Plan, parent: str, handle: str, t: Table) -> None:
    """Writes tbf with its inner queue."""
    rate = plan.link.rate if t["rate"] is None else q.number(t["rate"], "bit/s")
    burst = q.size(t["burst"])
    limit = burst if t["limit"] is None else q.length(t["limit"], FULL_PACKET)
    peak = t["peakrate"]
    words = () if peak is None else ("peakrate", q.rate(q.number(peak, "bit/s")), "mtu", q.size(t["mtu"]))
    plan.page("tbf")
    plan.qdisc(parent, handle, "tbf rate", q.rate(rate), "burst", burst, "limit", limit, *words, *link_layer(t))
    plan.queue(f"parent {handle}1", t["queue"])
    plan.note("tbf's own limit is that of a bfifo, which the inner queue replaces (tc-tbf(8))")
    t.settled("mtu")


def _virtual(plan: Plan, handle: tuple[str, ...], number: int, words: tuple[object, ...]) -> None:
    plan.tc("qdisc change dev", plan.dev, *handle, "gred vq", number, *words)


def gred(plan: Plan, parent: str, handle: str, t: Table, levels: list[tuple[str, str, str, float, int]], rio: bool) -> None:
    """Writes gred with virtual queues of (who, min, max, probability, priority)."""
    mean = q.size(t["mean_packet"])
    limit = q.length(t["limit"], mean)
    log = q.log_of_weight(t["w_q"])
    # Above max packets are dropped, those that could be marked as well.
    ecn = "ecn harddrop" if t["ecn"] else ""
    plan.qdisc(parent, handle, "gred setup vqs", len(levels), "default", len(levels) - 1, "grio" if rio else "", "limit", limit)
    for i, (who, low, high, p, priority) in enumerate(levels):
        small, large = (max(mean, q.length(x, mean)) for x in (low, high))
        words = (
            *(("prio", priority) if rio else ()), "limit", limit, "min", small, "max", large, "avpkt", mean, "burst",
            q.burst_below(small / mean, log), "probability", q.share(p), "bandwidth", q.rate(plan.link.rate), ecn,
        )  # fmt: skip
        _virtual(plan, (parent, "handle", handle), i, words)
        plan.note(f"virtual queue {i}: {who}")
    if abs(0.5**log - t["w_q"]) > 1e-3 * t["w_q"]:
        plan.note(f"the kernel's weights are powers of two: 2^-{log} for w_q = {t['w_q']:g}")
    plan.note(
        "gred picks the virtual queue from the low four bits of skb->tc_index. dsmark and tcindex, which set it from the DSCP, left Linux "
        "with 6.3; since then a BPF classifier has to"
    )
    plan.note("gred has no manual page; `tc qdisc add dev lo gred help` lists its options")
    if t["measure"] == "packets":
        plan.note(f"measure = packets: gred counts bytes, and a packet is taken as {mean} bytes (mean_packet)")
    for note in t.left({"gentle": False, "wait": False, "byte_mode": False, "spare": None, "grace": False}):
        plan.note(note)


def wred(plan: Plan, parent: str, handle: str, t: Table) -> None:
    """Writes gred; equal priorities under grio give one average for all, as in WRED."""
    levels = t["levels"]
    if len(levels) > MOST_VIRTUAL:
        plan.missing.append(f"wred with {len(levels)} levels")
        plan.note(f"gred has at most {MOST_VIRTUAL} virtual queues")
        return
    gred(plan, parent, handle, t, [(", ".join(patterns(x)), x["min"], x["max"], x["max_p"], 1) for x in levels], len(levels) > 1)


def rio(plan: Plan, parent: str, handle: str, t: Table) -> None:
    """Writes gred with two virtual queues; grio adds the averages of the higher priorities."""
    inside = t["in_profile"]
    who = inside if isinstance(inside, str) else ", ".join(inside)
    levels = [(who, t["in_min"], t["in_max"], t["in_max_p"], 1), ("the others", t["out_min"], t["out_max"], t["out_max_p"], 2)]
    gred(plan, parent, handle, t, levels, t["coupling"] == "coupled")
    for note in t.left({"total_by_in": False, "keep_out_gap": False}):
        plan.note(note)
