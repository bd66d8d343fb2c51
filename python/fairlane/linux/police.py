"""Policers of filters (tc-police(8)): what `fairlane tc` writes for the queue `policer`, and what it is read from."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from . import quantities as q
from . import tc_units as u
from .plan import Plan, Table
from .trees import matches_of, patterns, rule
from .words import SLOWEST_MTU, find, framed, heard, link_layer

if TYPE_CHECKING:
    from .disciplines import Place
    from .tc_text import Command, Text

ACTIONS = {"drop": "drop", "shot": "drop", "ok": "keep", "pass": "keep", "pipe": "keep", "continue": "keep", "reclassify": "keep"}
"""Action on a packet by tc's word."""
_PASSES = ("continue", "reclassify")
ANY_LENGTH = 65_535
"""mtu of a policer that lets packets of any length conform."""


def policer(plan: Plan, parent: str, handle: str, t: Table) -> None:
    """Writes a policer: a filter with the action police before the queue."""
    link = plan.link.rate
    rate = Fraction(link) / 2 if t["rate"] is None else q.number(t["rate"], "bit/s")
    mtu = ANY_LENGTH if t["mtu"] is None else q.size(t["mtu"])
    words: list[object] = ["police rate", q.rate(rate), "burst", q.size(t["burst"]), "mtu", mtu, *link_layer(t)]
    if t["peakrate"] is not None:
        words += ["peakrate", q.rate(q.number(t["peakrate"], "bit/s"))]
    words += ["conform-exceed", "/".join(_action(plan, t, key) for key in ("exceed", "conform"))]
    if t["per"] == "flow":
        plan.note("policer.per is flow here; a policer of tc has one meter for all that its filter matches")
    plan.page("prio", "police")
    # A discipline without filters cannot have the action.
    plan.qdisc(parent, handle, "prio bands 2 priomap", *[0] * 16)
    plan.queue(f"parent {handle}1", t["queue"])
    found = patterns({"match": t["match"]})
    if len(found) > 1:
        plan.note("each match is a policer of its own in tc, with the whole rate")
    for order, pattern in enumerate(found, 1):
        match, note = rule(pattern, order)
        protocol, target = ("ip", "flowid") if match.startswith("u32") else ("all", "classid")
        head = ("filter add dev", plan.dev, "parent", handle, "protocol", protocol, "prio", order, match, target, f"{handle}1")
        plan.tc(*head, "action", *words)
        if note:
            plan.note(note)


def _action(plan: Plan, t: Table, key: str) -> str:
    value = str(t[key]).strip().lower()
    if value not in ("drop", "keep"):
        plan.note(f"police sets no code point: policer.{key} is {value} here, and the packet passes as it is in the kernel")
    return "drop" if value == "drop" else "ok"


def side(c: Command) -> str:
    """Returns where the filter of a policer is: `in` for arriving packets, `out` for leaving ones, empty below a discipline."""
    parent = c.parent.lower()
    if parent in ("ingress", "ffff:", "ffff:fff1", "ffff:fff2", "ffff:ingress"):
        return "in"
    return "out" if parent in ("egress", "ffff:fff3", "ffff:egress") else ""


def read(c: Command, place: Place, text: Text) -> dict[str, Any] | None:
    """Returns the policer of a filter without its queue; None for one whose packets are not known."""
    at = c.words.index("police")
    before = [w for w in c.words[:at] if w != "action"]
    found, why = matches_of(c.kind, before, c.handle, c.protocol, text.marks)
    if not found:
        place.note(f"line {c.line}: the policer of {' '.join([c.kind, *before])[:80]} is not modelled{why}")
        return None
    words, action = _split(c.words[at + 1 :])
    said = heard("police", words)
    for note in said.notes:
        place.note(note)
    made = said.values
    if "rate" not in made or "burst" not in made:
        raise u.TcError("police", "police needs rate and burst", "write for instance police rate 10mbit burst 15k drop", c.line)
    # At ingress the link layer's header is off already.
    framed(made, 0 if side(c) == "in" else place.header())
    if side(c) != "in":
        place.counts_bytes()
    longest = q.size(made.get("mtu", f"{SLOWEST_MTU}B")) or SLOWEST_MTU
    made.pop("mtu", None)
    if longest < ANY_LENGTH:
        made["mtu"] = f"{longest}B"
    exceed, _, conform = action.partition("/")
    for key, word in (("exceed", exceed), ("conform", conform or "pipe")):
        if word not in ACTIONS:
            raise u.TcError(word, f"police has no action {word[:40]}", f"its actions are {', '.join(ACTIONS)}", c.line)
        if word in _PASSES:
            place.note(f"police: {word} is not modelled: the packet passes")
        made[key] = ACTIONS[word]
    return made if found == "any" else {"match": found, **made}


def _split(words: list[str]) -> tuple[list[str], str]:
    """Returns the words of a policer, and its action; what belongs to the filter is left out."""
    out: list[str] = []
    action = "reclassify"
    rest = iter(words)
    for w in rest:
        if w in ("flowid", "classid", "index", "action"):
            next(rest, "")
        elif w == "conform-exceed":
            action = next(rest, "")
        elif w in ACTIONS:
            action = w
        elif (known := find("police", w)) is not None and known.form is not None:
            out += [w, *([value] if (value := next(rest, "")) else [])]
        else:
            out.append(w)
    return out, action


def before(queue: dict[str, Any], policers: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns a queue behind policers; the class of a discipline that is there for its filter alone is the queue itself."""
    if not policers:
        return queue
    classes = queue.get("prio", {}).get("classes", [])
    if len(classes) == 1 and classes[0].get("match") == "any":
        queue = classes[0]["queue"]
    for made in reversed(policers):
        queue = {"policer": {**made, "queue": queue}}
    return queue
