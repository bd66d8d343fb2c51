"""Single queues: DropTail and the AQM algorithms of Linux."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from . import quantities as q
from .plan import Plan, Table, in_packets
from .words import written

LEAST_AUTOMATIC = 5.0
"""Packets of RED's smallest automatic lower threshold, as in the core (Floyd, Gummadi and Shenker 2001, section 5)."""

ADAPTIVE_BOTTOM = 0.01
"""Lowest probability of Adaptive RED (Floyd, Gummadi and Shenker 2001, section 4; tc-red(8))."""


def droptail(plan: Plan, parent: str, handle: str, t: Table) -> None:
    """Writes pfifo or bfifo, by the unit of the limit."""
    limit, under = t["limit"], t["admit"] == "under"
    n = q.packets(limit)
    plan.page("bfifo" if n is None else "pfifo")
    if n is not None:
        plan.qdisc(parent, handle, "pfifo limit", n - under)
        return
    plan.qdisc(parent, handle, "bfifo limit", q.size(limit) - under)
    if t["admit"] == "not_full":
        plan.note("bfifo admits a packet only if it fits whole; here the last one may pass the limit")


def headdrop(plan: Plan, parent: str, handle: str, t: Table) -> None:
    """Writes pfifo_head_drop."""
    plan.page("pfifo")
    plan.qdisc(parent, handle, "pfifo_head_drop limit", in_packets(plan, t))


def red_setting(t: Table, plan: Plan) -> tuple[float, float, float]:
    """Returns thresholds in packets and the weight of the average, automatic values as in the core (`fairlane explain red`)."""
    mean = q.size(t["mean_packet"])
    per_second = float(plan.link.rate) / (8 * mean)
    low, high = (None if t[k] is None else q.length(t[k], mean) / mean for k in ("min", "max"))
    aim = float(q.seconds(t["target_delay"]))
    if low is None:
        low = max(LEAST_AUTOMATIC, aim * per_second / 2)
    if high is None:
        high = 3 * low
    weight = t["w_q"]
    if weight is None:
        span = t.get("averaging")
        trip = 3 * (float(plan.link.delay) + 1 / per_second)
        constant = 10 * max(0.1, trip) if span is None else float(q.seconds(span))
        weight = -math.expm1(-1 / (constant * per_second))
    return low, high, weight


def red(plan: Plan, parent: str, handle: str, t: Table, kind: str = "red") -> None:
    """Writes red, with `adaptive` for Adaptive RED."""
    mean = q.size(t["mean_packet"])
    low, high, weight = red_setting(t, plan)
    if low < 1:
        plan.note(f"tc needs a min of a packet at least: {mean} for {low * mean:g} bytes")
        low, high = 1.0, max(high, 1.0)
    burst = q.burst_below(round(low * mean) / mean, q.log_of_weight(weight))
    log = q.log_of_burst(round(low * mean) / mean, burst)
    ecn, gentle = t["ecn"], t["gentle"]
    mark_p = t["mark_p"]
    hard_drop = ecn and t.values.get("hard_drop", True)
    t.settled("hard_drop")
    # The kernel knows one point from which it drops what it could mark: max.
    hard = hard_drop and (not gentle or mark_p < 1)
    plan.page("red")
    plan.qdisc(
        parent, handle, "red limit", q.length(t["limit"], mean), "min", round(low * mean), "max", round(high * mean), "avpkt", mean,
        "burst", burst, "probability", q.share(t["max_p"]), "bandwidth", q.rate(plan.link.rate), "ecn" if ecn else "",
        "harddrop" if hard else "", "adaptive" if kind == "ared" else "",
    )  # fmt: skip
    if abs(weight - 0.5**log) > 1e-3 * weight:
        plan.note(
            f"the kernel's weights are powers of two: 2^-{log} = {0.5**log:.3g} for w_q = {weight:.3g}; tc finds it from burst {burst}"
        )
    if gentle:
        plan.note(
            f"sch_red is not gentle: above max every packet is {'marked or dropped' if ecn and not hard else 'dropped'}, where here the "
            f"probability grows from {'the first max_p (fixed_gentle)' if t.get('fixed_gentle') else 'max_p'} to 1 at twice max"
        )
        if hard_drop and not hard:
            plan.note(
                "hard_drop: packets that could be marked are dropped above twice max here; sch_red marks them, or drops them above max"
            )
    if t["measure"] == "packets":
        plan.note(f"measure = packets: sch_red counts bytes, and a packet is taken as {mean} bytes (mean_packet)")
    if hard_drop and mark_p < 1:
        plan.note(f"mark_p = {mark_p}: sch_red marks at any probability below that of max, and with harddrop drops above max")
    t.settled("measure", "target_delay", "averaging")
    kernel: dict[str, Any] = {"byte_mode": False, "idle_packet": None, "spare": None, "grace": False, "wait": False}
    if kind == "ared":
        kernel |= {"interval": "500ms", "alpha": 0.01, "beta": 0.9, "top": 0.5, "on_arrival": False}
        t.settled("fixed_gentle")
        bottom = t["bottom"] if t.values["bottom"] is not None else min(ADAPTIVE_BOTTOM, 80_000 / float(plan.link.rate))
        if bottom != ADAPTIVE_BOTTOM:
            plan.note(f"bottom: the kernel does not lower max_p below {ADAPTIVE_BOTTOM}, here the bound is {bottom:.3g}")
    for note in t.left(kernel):
        plan.note(note)


def ared(plan: Plan, parent: str, handle: str, t: Table) -> None:
    """Writes red with `adaptive`."""
    red(plan, parent, handle, t, "ared")


def codel(plan: Plan, parent: str, handle: str, t: Table) -> None:
    """Writes codel."""
    plan.page("codel")
    plan.qdisc(parent, handle, "codel", *written("codel", plan, t))
    codel_notes(plan, t)


def codel_notes(plan: Plan, t: Table) -> None:
    """Notes the differences of CoDel in the kernel, alone or in a flow queue."""
    if t.get("inv_sqrt") == "exact":
        plan.note("the kernel works 1/sqrt(count) out in 16 bits by Newton's method: drops come a little off the times of RFC 8289")
    mtu = t.get("mtu")
    plan.note(
        "the kernel spares the last MTU of the device (1514 bytes on Ethernet) in the queue"
        + (", here the largest packet seen" if mtu is None else f", here {mtu}")
    )
    for note in t.left({}):
        plan.note(note)


def pie(plan: Plan, parent: str, handle: str, t: Table) -> None:
    """Writes pie."""
    plan.page("pie")
    plan.qdisc(parent, handle, "pie", *written("pie", plan, t))
    pie_notes(plan, t)


def pie_notes(plan: Plan, t: Table) -> None:
    """Notes the differences of PIE in the kernel."""
    mean = t.get("mean_packet")
    if mean is not None and mean != "1500B":
        plan.note(f"the kernel takes the device's MTU for a typical packet, here {mean}")
    kernel = {
        "max_burst": "150ms", "panic_delay": "250ms", "cap": True, "derandomize": True, "dq_threshold": "16384B", "mark_ecnth": 0.1,
        "hold": False,
    }  # fmt: skip
    start = t.get("start")
    if start is None:
        plan.note("start is unset: sch_pie begins at a third of limit and rests when probability and delay are zero; here it always works")
    elif q.count(start, 1500) != max(1, in_packets(plan, t) // 3):
        plan.note(f"start is {start} here, a third of limit in the kernel")
    known = {k: v for k, v in kernel.items() if k in t.values}
    for note in t.left(known):
        plan.note(note)


def choke(plan: Plan, parent: str, handle: str, t: Table) -> None:
    """Writes choke."""
    mean = q.size(t["mean_packet"])
    low, high, weight = red_setting(t, plan)
    small = max(1, round(low))
    burst = q.burst_below(float(small), q.log_of_weight(weight))
    log = q.log_of_burst(float(small), burst)
    plan.page("choke")
    plan.qdisc(
        parent, handle, "choke limit", in_packets(plan, t, packet=mean), "bandwidth", q.rate(plan.link.rate), "min", small, "max",
        max(small, round(high)), "avpkt", mean, "burst", burst, "probability", q.share(t["max_p"]), "ecn" if t["ecn"] else "",
    )  # fmt: skip
    if abs(weight - 0.5**log) > 1e-3 * weight:
        plan.note(
            f"the kernel's weights are powers of two: 2^-{log} = {0.5**log:.3g} for w_q = {weight:.3g}; tc finds it from burst {burst}"
        )
    t.settled("target_delay")
    for note in t.left({"draws": 1, "gentle": False}):
        plan.note(note)


SFB_SHARE = Fraction(3, 2)
"""A bin of SFB is full at one and a half times an equal share of the limit (`fairlane explain sfb`)."""


def sfb(plan: Plan, parent: str, handle: str, t: Table) -> None:
    """Writes sfb."""
    limit = in_packets(plan, t)
    share = max(1, int(limit * SFB_SHARE / t.values["bins"]))
    target = share if t["bin_size"] is None else q.count(t["bin_size"], 1500)
    most = limit if t["bin_limit"] is None else q.count(t["bin_limit"], 1500)
    penalty = plan.link.rate / 100 if t["penalty_rate"] is None else q.number(t["penalty_rate"], "bit/s")
    packet = 1500
    rehash = t["rehash"]
    milliseconds = 0 if rehash is None else round(q.seconds(rehash) * 1000)
    warm = round(q.seconds(t["warmup"]) * 1000) if milliseconds else 0
    t.settled("warmup")
    plan.page("sfb")
    plan.qdisc(
        parent, handle, "sfb rehash", milliseconds, "db", warm, "limit", limit, "max", most,
        "target", target, "increment", q.share(t["increment"]), "decrement", q.share(t["decrement"]), "penalty_rate",
        max(1, round(penalty / 8 / packet)), "penalty_burst", max(1, q.size(t["penalty_burst"]) // packet),
    )  # fmt: skip
    plan.note(f"the penalty box counts packets, taken as {packet} bytes; in the kernel each flow has its own allowance, here all share one")
    for note in t.left({"levels": 8, "bins": 16, "ecn": True}):
        plan.note(note)
