"""Propagation and impairments of a link by netem (tc-netem(8))."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..base.reference import impairments
from . import quantities as q
from .plan import ETHERNET_HEADER

if TYPE_CHECKING:
    from collections.abc import Callable

    from .plan import Plan

EMULATION = ("tc-netem(8)", "tc-mirred(8)")
"""Manual pages of the delay line."""
LEAST_NETEM = 1000
"""netem's default limit, packets."""
SMALL_PACKET = 64
"""Packet size in bytes for the length of the delay line."""


def delay_line(plan: Plan, link: dict[str, Any]) -> list[str]:
    """Adds propagation and impairments at the far end: below an AQM the queue of netem would hide packets from it (tc-netem(8))."""
    words = [word for name, words_of in _WORDS.items() for word in words_of(plan, link.get(name))]
    plan.missing += [f"the impairment {name}" for name in impairments() if link.get(name) and name not in (*_WORDS, "reorder", "device")]
    if link.get("device"):
        plan.missing.append(f"a device of {link['device']} below the queue: a shaper hands it no more than it can send")
    late = link.get("reorder") or {}
    if not late.get("share") and not late.get("ahead"):
        late = {}
    if not words and not late:
        return []
    longest = plan.link.delay + (q.seconds(late["delay"]) if late else 0)
    limit = ["limit", str(max(LEAST_NETEM, -(-int(plan.link.rate * longest / 8 / SMALL_PACKET) // 1000) * 1000))]
    plan.manual += EMULATION
    lines = [
        "ip link add ifb0 type ifb",
        "ip link set ifb0 up",
        f"tc qdisc add dev {plan.dev} ingress",
        f"tc filter add dev {plan.dev} parent ffff: protocol all matchall action mirred egress redirect dev ifb0",
    ]
    parent = "root"
    if late.get("ahead"):
        gap = ["gap", str(late["gap"])] if late.get("gap", 0) > 1 else []
        part = ["delay", q.time(q.seconds(late["delay"])), "reorder", *_correlated(late["share"], late), *gap]
        lines.append(" ".join(["tc qdisc add dev ifb0 root handle 1: netem", *part, *limit]))
        parent = "parent 1:1"
    elif late:
        for name in ("gap", "correlation"):
            if late.get(name):
                plan.note(f"netem's {name} is about the packets that are not late: reorder.{name} is omitted")
        # netem sends "reordered" packets at once and delays the others: they are the packets that are not late.
        plan.note("netem's reorder names the packets that are not late; the delay of all of them is in a netem of its own below it")
        rest = _percent(1 - late["share"])
        if late["share"] < 1:
            part = ["delay", q.time(q.seconds(late["delay"])), "reorder", rest]
        else:
            part = ["delay", q.time(q.seconds(late["delay"]))]
        lines.append(" ".join(["tc qdisc add dev ifb0 root handle 1: netem", *part, *limit]))
        parent = "parent 1:1"
    if words:
        lines.append(" ".join([f"tc qdisc add dev ifb0 {parent} netem", *words, *limit]))
    return lines


def _percent(p: float) -> str:
    return f"{100 * p:.10g}%"


def _delay(plan: Plan, jitter: dict[str, Any] | None) -> list[str]:
    words = ["delay", q.time(plan.link.delay)] if plan.link.delay else []
    width = q.seconds(jitter["width"]) if jitter else Fraction(0)
    if not jitter or not width:
        return words
    if jitter["keep_order"]:
        plan.note("netem lets packets overtake each other when their delay varies: jitter.keep_order is not kept")
    # Without a distribution netem draws uniformly between delay - jitter and delay + jitter.
    table = _TABLES.get(jitter["distribution"])
    weight = [_percent(jitter["correlation"])] if jitter.get("correlation") else []
    return ["delay", q.time(plan.link.delay), q.time(width), *weight, *(["distribution", table] if table else [])]


_TABLES = {"normal": "normal", "pareto": "pareto", "pareto_normal": "paretonormal"}
"""netem's distributions (tc-netem(8))."""


def _correlated(share: float, table: dict[str, Any]) -> list[str]:
    return [_percent(share), *([_percent(table["correlation"])] if table.get("correlation") else [])]


def _loss(plan: Plan, loss: float | dict[str, Any] | None) -> list[str]:
    models: dict[str, Any] = loss if isinstance(loss, dict) else {"share": loss}
    for name in ("every", "list"):
        if models.get(name):
            plan.note(f"netem cannot lose packets by their number: loss.{name} is omitted")
    share, chain, states = models.get("share"), models.get("gilbert_elliott"), models.get("four_states")
    if (chain or states) and share:
        plan.note("netem has one model of loss at a time: loss.share is left out")
    if states:
        if chain:
            plan.note("netem has one model of loss at a time: loss.gilbert_elliott is left out")
        ends = states.get("p31")
        return ["loss state", *(_percent(x) for x in (states["p13"], 1 - states["p13"] if ends is None else ends, states["p32"],
                                                      states["p23"], states["p14"]))]  # fmt: skip
    if chain:
        return ["loss gemodel", *(_percent(chain[k]) for k in ("p", "r", "bad", "good"))]
    return ["loss", *_correlated(share, models)] if share else []


def _duplicate(_: Plan, share: float | None) -> list[str]:
    return ["duplicate", _percent(share)] if share else []


def _corrupt(plan: Plan, corrupt: float | dict[str, Any] | None) -> list[str]:
    table: dict[str, Any] = corrupt if isinstance(corrupt, dict) else {"share": corrupt}
    if not table["share"]:
        return []
    plan.note("netem flips a bit, which the receiver's checksum finds; here the packet is lost on the link")
    return ["corrupt", *_correlated(table["share"], table)]


def _slot(plan: Plan, slot: dict[str, Any] | None) -> list[str]:
    if not slot:
        return []
    if slot.get("delay"):
        table = _TABLES.get(slot.get("distribution", ""), "uniform")
        times = ["distribution", table, *(q.time(q.seconds(slot.get(k, "0s"))) for k in ("delay", "jitter"))]
    else:
        times = [q.time(q.seconds(slot[k])) for k in ("min", "max") if slot.get(k)]
    if not slot.get("bytes"):
        limits: list[str] = []
    else:
        limits = ["bytes", str(q.size(slot["bytes"]))]
        plan.note(f"netem counts the {ETHERNET_HEADER} bytes of Ethernet's header in slot.bytes, here packets are those of IP")
    return ["slot", *times, *(["packets", str(slot["packets"])] if slot.get("packets") else []), *limits]


_WORDS: dict[str, Callable[[Plan, Any], list[str]]] = {
    "jitter": _delay, "loss": _loss, "duplicate": _duplicate, "corrupt": _corrupt, "slot": _slot,
}  # fmt: skip
"""Impairments as netem options; `reorder` needs a second netem. Others are reported as missing."""
