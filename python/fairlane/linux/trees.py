"""Class trees: classes, the queues inside them, and the filters that choose a class."""

from __future__ import annotations

from typing import Any

from . import quantities as q
from .plan import Plan

CODE_POINTS = {
    **{f"cs{i}": 8 * i for i in range(8)}, **{f"af{c}{d}": 8 * c + 2 * d for c in (1, 2, 3, 4) for d in (1, 2, 3)},
    "df": 0, "be": 0, "le": 1, "va": 44, "ef": 46,
}  # fmt: skip
"""Names of code points: RFC 2474 section 4.2, RFC 2597 section 6, RFC 3246, RFC 5865, RFC 8622."""
_ECN = {"not-ect": 0, "ect1": 1, "ect0": 2, "ce": 3}
"""The two bits of RFC 3168 section 5."""
_PROTOCOL = {"tcp": 6, "udp": 17}


def rule(pattern: str, mark: int) -> tuple[str, str]:
    """Returns the filter of one match, and a note if it needs a firewall mark; `mark` is a free one."""
    text = pattern.strip().lower()
    if text in ("any", "*"):
        return "matchall", ""
    if text in _PROTOCOL:
        return f"u32 match ip protocol {_PROTOCOL[text]} 0xff", ""
    kind, _, value = text.partition(":")
    if kind == "dscp":
        point = CODE_POINTS.get(value, int(value) if value.isdigit() else 0)
        return f"u32 match ip dsfield {4 * point:#04x} 0xfc", ""
    if kind == "ecn" and value in _ECN:
        return f"u32 match ip dsfield {_ECN[value]:#04x} 0x03", ""
    name = pattern.partition(":")[2]
    return f"handle {mark} fw", f"flow {name}: its packets need the firewall mark {mark} (nft: meta mark set {mark})"


def filters(plan: Plan, handle: str, classes: list[tuple[list[str], str]]) -> None:
    """Adds a filter per match of each class; the first match wins."""
    order = 0
    for patterns, classid in classes:
        for pattern in patterns:
            order += 1
            words, note = rule(pattern, order)
            ip = words.startswith("u32")
            head = ("protocol ip prio", order, words, "flowid") if ip else ("protocol all prio", order, words, "classid")
            plan.tc("filter add dev", plan.dev, "parent", handle, *head, classid)
            if note:
                plan.note(note)
    if any(rule(x, 0)[0].startswith("u32") for group, _ in classes for x in group):
        plan.note("the filters look at IPv4 only; IPv6 wants the same with `protocol ipv6` and `match ip6`")


def patterns(entry: dict[str, Any]) -> list[str]:
    """Returns the matches of a class."""
    match = entry.get("match", "any")
    return [match] if isinstance(match, str) else list(match)


def shaper(plan: Plan) -> str:
    """Adds HTB at the rate of the link; the queue is below its only class."""
    plan.qdisc("root", "1:", "htb default 1")
    plan.tc(
        "class add dev", plan.dev, "parent 1: classid 1:1 htb rate", q.rate(plan.link.rate), "ceil", q.rate(plan.link.rate), "quantum 1514"
    )
    plan.page("htb", "stab")
    return "parent 1:1"
