"""HTB's and HFSC's trees of classes: the counterpart of `shapers`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

from ..errors import short
from . import quantities as q
from . import tc_units as u
from .disciplines import Place
from .shapers import DIRECT
from .words import framed, heard

if TYPE_CHECKING:
    from .tc_text import Command

Id = tuple[int, int]
Queue = dict[str, Any]
_CURVES = {"rt": ("rt",), "ls": ("ls",), "ul": ("ul",), "sc": ("rt", "ls")}
"""Curves of each word of tc-hfsc(8)."""
MOST_PRIORITY = 7
"""HTB's lowest priority; the kernel takes it for larger numbers."""


@dataclass
class Tree:
    """Classes of a discipline with what chooses them."""

    head: Command
    classes: dict[Id, Command]
    parents: dict[Id, Id]
    matches: dict[Id, list[str]]
    """By class, in the order in which filters look."""
    names: dict[str, str]
    """Names that comments give to classes."""
    place: Place
    inner: Callable[[Id], Queue]
    """Returns the queue of a class."""

    def leaves(self) -> list[Id]:
        """Returns the classes that hold packets."""
        above = {*self.parents.values()}
        return [k for k in self.classes if k not in above]

    def name(self, key: Id) -> str:
        """Returns the name of a class."""
        text = f"{key[0]:x}:{key[1]:x}"
        return self.names.get(text) or text

    def rate(self) -> str:
        """Returns the slowest rate of classes in a row."""
        rates = [self._upper(c.words) for c in self.classes.values()]
        return min(rates, key=lambda r: q.number(r, "bit/s"))

    def _upper(self, words: list[str]) -> str:
        kind = self.head.kind
        names = ("ceil", "rate") if kind == "htb" else ("m2", "rate")
        for name in names:
            if name in words[:-1]:
                return u.rate(words[words.index(name) + 1])
        raise u.TcError(kind, f"a class of {kind} needs a rate", f"write for instance {kind} {names[-1]} 10mbit")


def htb(tree: Tree) -> Queue:
    """Returns the queue for HTB."""
    said = heard("htb", tree.head.words)
    out: Queue = {k: v for k, v in said.values.items() if k != "default"}
    made = _classes(tree, _htb_class, said.values.get("default", 0), DIRECT)
    tree.place.counts_bytes()
    return {"htb": {**made, **out}}


def hfsc(tree: Tree) -> Queue:
    """Returns the queue for HFSC."""
    said = heard("hfsc", tree.head.words)
    made = _classes(tree, _hfsc_class, said.values.get("default", 0), "")
    tree.place.counts_bytes()
    return {"hfsc": made}


TREES: dict[str, Callable[[Tree], Queue]] = {"htb": htb, "hfsc": hfsc}
"""Disciplines whose classes are a tree."""


def _htb_class(c: Command, place: Place) -> dict[str, Any]:
    said = heard("htb class", c.words)
    for note in said.notes:
        place.note(note)
    v = said.values
    if "rate" not in v:
        raise u.TcError(c.handle, "a class of htb needs a rate", "write for instance htb rate 10mbit")
    v.setdefault("ceil", v["rate"])
    if v.get("prio", 0) > MOST_PRIORITY:
        place.note(f"htb: prio {v['prio']} is {MOST_PRIORITY}, the lowest")
        v["prio"] = MOST_PRIORITY
    framed(v, place.header())
    for key in ("quantum", "burst", "cburst"):
        if v.get(key) == "0B":
            del v[key]
    return v


def _hfsc_class(c: Command, _: Place) -> dict[str, Any]:
    out: dict[str, Any] = {}
    words = list(c.words)
    while words:
        word = words.pop(0)
        curves = _CURVES.get(word)
        if curves is None:
            raise u.TcError(word, f"hfsc class has no word {short(word)}", f"its words are {', '.join(_CURVES)}")
        said: dict[str, str] = {}
        while len(words) > 1 and words[0] in ("m1", "d", "m2", "umax", "dmax", "rate"):
            said[words[0]] = words[1]
            del words[:2]
        made = _curve(word, said)
        out |= dict.fromkeys(curves, made)
    if "rt" not in out and "ls" not in out:
        raise u.TcError(c.handle, "a class of hfsc needs a curve", "write for instance hfsc sc rate 10mbit")
    return out


def _curve(word: str, said: dict[str, str]) -> dict[str, Any]:
    slope = said.get("m2", said.get("rate"))
    if slope is None:
        raise u.TcError(word, f"hfsc: the curve {word} needs a rate", f"write for instance {word} rate 10mbit")
    made: dict[str, Any] = {"m2": u.rate(slope)}
    if "dmax" in said or "umax" in said:
        return made | _first_part(u.size(said.get("umax", "0")), u.seconds(said.get("dmax", "0")), q.number(made["m2"], "bit/s"))
    span = u.seconds(said.get("d", "0"))
    return {"m1": u.rate(said.get("m1", "0")), "d": q.time(span), **made} if span else made


def _first_part(work: int, span: Fraction, slope: Fraction) -> dict[str, str]:
    """Returns the first part of a curve by the work within a time, as iproute2 does (hfsc_get_sc2 of q_hfsc.c)."""
    if not span or not slope:
        return {}
    steep = ceil(work / span) * 8
    if steep > slope:
        return {"m1": u.bits(steep), "d": q.time(span)}
    late = span - work * 8 / slope
    return {"m1": "0bit/s", "d": q.time(Fraction(ceil(late * 10**6), 10**6))} if late > 0 else {}


def _classes(tree: Tree, read: Callable[[Command, Place], dict[str, Any]], default: int, unset: str) -> dict[str, Any]:
    """Returns the classes in the order in which filters choose them, and the default; `unset` stands for none."""
    kind = tree.head.kind
    leaves = tree.leaves()
    wanted = next((k for k in leaves if k[1] == default), None)
    reached = [k for k in leaves if tree.matches.get(k)]
    if any(k not in leaves for k in tree.matches):
        tree.place.note(f"{kind}: filters of a class that has others below it are not modelled: only the other filters count")
    for key in leaves:
        if key not in reached and key != wanted:
            tree.place.note(f"{kind}: no filter sends packets to the class {_shown(key)}: it is left out")
    order = [k for k in tree.matches if k in reached]
    # The default without a filter takes the rest: it is the last.
    rest = wanted if wanted is not None and wanted not in reached else None
    order += [rest] if rest is not None else []
    if not order:
        raise u.TcError(
            kind, f"{kind} with {len(leaves)} classes is not modelled: neither a default nor a filter sends packets to one of them",
            f"write for instance {kind} default 10, or a filter for each class",
        )  # fmt: skip
    kept: set[Id] = set()
    for key in order:
        over: Id | None = key
        while over is not None and over not in kept:
            kept.add(over)
            over = tree.parents.get(over)
    made = []
    rank = {key: i for i, key in enumerate(order)}
    ordered = sorted(k for k in order) == order
    for key in sorted(kept, key=lambda k: k if ordered else (0 if k not in rank else 1, rank.get(k, k[1]))):
        c = tree.classes[key]
        entry: dict[str, Any] = {"name": tree.name(key)}
        if key in tree.parents:
            entry["parent"] = tree.name(tree.parents[key])
        if key in rank:
            match = _match(tree.matches.get(key, ["any"]))
            entry |= {"match": match, "queue": tree.inner(key)}
        values = read(c, tree.place)
        if key not in rank:
            values = {k: v for k, v in values.items() if k not in ("prio", "quantum")}
        made.append(entry | values)
    out: dict[str, Any] = {"classes": made}
    if rest is None and wanted is not None:
        out["default"] = tree.name(wanted)
    elif rest is None and unset:
        out["default"] = unset
    elif rest is None and "any" not in tree.matches[order[-1]]:
        tree.place.note(f"{kind} drops packets that no filter names; here the class {_shown(order[-1])} takes them")
    return out


def _match(found: list[str]) -> str | list[str]:
    return "any" if "any" in found else found[0] if len(found) == 1 else found


def _shown(key: Id) -> str:
    return f"{key[0]:x}:{key[1]:x}"
