"""Class trees: classes, the queues inside them, and the filters that choose a class."""

from __future__ import annotations

from itertools import pairwise
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


def matches_of(kind: str, words: list[str], handle: str, protocol: str, marks: dict[int, str]) -> tuple[str, str]:
    """Returns the match of a filter, the counterpart of `rule`; otherwise nothing and the reason."""
    if kind == "matchall":
        return "any", ""
    if kind == "fw":
        mark = handle if handle.isdecimal() and len(handle) < 10 else "0"
        flow = marks.get(int(mark))
        return (
            (f"flow:{flow}", "") if flow else ("", f': there are no firewall marks here, match = "flow:NAME" names packets of mark {mark}')
        )
    if kind == "flower":
        values = dict(pairwise(words))
        if values.get("ip_proto") in _PROTOCOL and "ip_tos" not in values:
            return values["ip_proto"], ""
        if "ip_tos" in values:
            value, _, mask = values["ip_tos"].partition("/")
            return _tos(value, mask or "0xff"), ""
        return "", ": only ip_proto and ip_tos are"
    if kind == "u32" and words.count("match") == 1:
        at = words.index("match")
        field = words[at + 1 : at + 5]
        if field[:2] == ["ip", "protocol"] and len(field) == 4:
            name = next((n for n, v in _PROTOCOL.items() if _hex(field[2]) == v), "")
            return (name, "") if name else ("", ": only TCP and UDP are")
        if field[:2] in (["ip", "dsfield"], ["ip", "tos"], ["ip", "precedence"]) and len(field) == 4:
            return _tos(field[2], field[3]), ""
        everywhere = field[:2] in (["ip", "src"], ["ip", "dst"]) and field[2:3] == ["0.0.0.0/0"]
        if everywhere or (field[:2] == ["u32", "0"] and field[2:3] == ["0"]):
            return "any", ""
    if kind == "basic" and "match" not in words:
        return "any", ""
    return "", ": matches are those of protocol and dsfield"


def _hex(text: str) -> int:
    try:
        return int(text, 16 if text[:2].lower() == "0x" else 10) if len(text) < 12 else -1
    except ValueError:
        return -1


def _tos(value: str, mask: str) -> str:
    """Returns the match for the byte of DSCP and ECN under a mask."""
    bits, under = _hex(value), _hex(mask)
    if under == 3:
        return next((f"ecn:{name}" for name, two in _ECN.items() if two == bits & 3), "")
    return f"dscp:{bits >> 2}" if under in (0xFC, 0xFF) and 0 <= bits < 256 else ""


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
