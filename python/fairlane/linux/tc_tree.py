"""The queue of each device from the commands for it: class trees, shapers, delay lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..errors import short
from . import quantities as q
from . import tc_units as u
from .class_words import TREES, Tree
from .disciplines import ABSENT, DEVICE_QUEUE, READERS, Place, common, queue_of
from .netem_words import Line, netem
from .police import before, read, side
from .tc_text import UNKNOWN, Command, Text
from .trees import matches_of
from .words import LINK_LAYER, framed, heard

DEEPEST = 16
Queue = dict[str, Any]
LEAF: Queue = {"droptail": {"limit": f"{DEVICE_QUEUE}p"}}
"""Queue of a class without one of its own: pfifo of the device's length."""
_TOS_PRIORITY = {0: 0, 1: 2, 2: 6, 3: 4}
"""Priority of a packet by bits 1 and 2 of its code point: `ip_tos2prio` of the kernel."""
_PRIOMAP = (1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1)
_NUMBERS = 16


def number(text: str) -> tuple[int, int]:
    """Returns the numbers of a handle or a class: `1:`, `1:10` are hexadecimal.

    >>> number("10:"), number("1:1a"), number("root")
    ((16, 0), (1, 26), (-1, -1))
    """
    major, _, minor = text.partition(":")
    try:
        return int(major or "0", 16), int(minor or "0", 16)
    except ValueError:
        return -1, -1


@dataclass
class Device:
    """Disciplines, classes and filters of a device."""

    name: str
    qdiscs: dict[str, Command] = field(default_factory=dict)
    """By parent: `root`, or the numbers of a class."""
    changes: list[Command] = field(default_factory=list)
    classes: dict[tuple[int, int], Command] = field(default_factory=dict)
    filters: list[Command] = field(default_factory=list)
    redirects: str = ""
    """Device that arriving packets pass."""

    def policers(self, where: str, major: int = 0) -> list[Command]:
        """Returns the filters with a policer: of packets that arrive (`in`) or leave (`out`), or below a discipline."""
        found = [c for c in self.filters if "police" in c.words and side(c) == where and (where or number(c.parent)[0] == major)]
        return sorted(found, key=lambda c: c.pref)


@dataclass
class Direction:
    """Queue, rate and delay line of what leaves through a device."""

    queue: Queue
    rate: str | None = None
    line: Line = field(default_factory=Line)
    notes: list[str] = field(default_factory=list)


def devices(text: Text) -> dict[str, Device]:
    """Returns the devices with what is left after all commands."""
    out: dict[str, Device] = {}
    of_major = {number(c.handle)[0]: c.dev for c in text.commands if c.what == "qdisc" and c.handle}
    for c in text.commands:
        if c.dev == UNKNOWN and c.what == "class":  # `tc class show` does not say the device
            c.dev = of_major.get(number(c.handle)[0], c.dev)
        d = out.setdefault(c.dev, Device(c.dev))
        if c.verb == "delete":
            if c.what == "qdisc" and c.parent in ("root", "ingress"):
                out[c.dev] = Device(c.dev, redirects=d.redirects if c.parent == "root" else "")
            continue
        if c.what == "filter":
            if "mirred" in c.words and "dev" in c.words[:-1]:
                d.redirects = c.words[c.words.index("dev") + 1]
            else:
                d.filters.append(c)
        elif c.what == "class":
            d.classes[number(c.handle)] = c
        elif c.parent == "ingress":
            continue
        elif c.verb == "change" and c.kind == "gred":
            d.changes.append(c)
        else:
            d.qdiscs["root" if c.parent in ("root", "") else str(number(c.parent))] = c
    return out


class Builder:
    """Builds the queue of one device."""

    def __init__(self, device: Device, text: Text, rate: int | None = None) -> None:
        self.device, self.text = device, text
        self.place = Place(rate=rate)
        self.line = Line()
        self.rate: str | None = None

    def direction(self) -> Direction:
        """Returns the queue before the link, the link's rate, and its delay line."""
        root = self.device.qdiscs.get("root")
        if root is None:
            return Direction(before(dict(LEAF), self.policers("out")), notes=self.place.notes)
        self._sizes(root)
        queue = before(self.queue(root, 0), self.policers("out"))
        return Direction(queue, self.rate, self.line, self.place.notes)

    def policers(self, where: str, major: int = 0) -> list[dict[str, Any]]:
        """Returns the policers of packets."""
        found = [read(c, self.place, self.text) for c in self.device.policers(where, major)]
        return [made for made in found if made is not None]

    def arriving(self) -> Direction:
        """Returns what arrives at the device, where only policers are."""
        queue = before(dict(LEAF), self.policers("in"))
        return Direction(queue, notes=self.place.notes)

    def _sizes(self, root: Command) -> None:
        if "overhead" in root.stab[:-1]:
            text = root.stab[root.stab.index("overhead") + 1]
            self.place.stab = int(text) if text.lstrip("-").isdecimal() and len(text) < 6 else 0
        if root.stab and self.place.stab > -14:
            self.place.note(f"stab {' '.join(root.stab)} is not modelled: packets have no bytes of the link layer; cake has an overhead")
        if "atm" in root.stab or "adsl" in root.stab:
            self.place.note("stab: cells of ATM are not modelled; cake has them")

    def queue(self, c: Command, depth: int) -> Queue:
        """Returns the queue for a discipline with all that is below it."""
        try:
            if depth > DEEPEST:
                raise u.TcError(c.kind, f"disciplines are nested more than {DEEPEST} deep", "use fewer")
            if c.kind in CLASSFUL:
                return before(CLASSFUL[c.kind](self, c, depth), self.policers("", number(c.handle)[0]))
            if c.kind in READERS:
                made = queue_of(c.kind, c.words, self.place)
                self.hash_filter(c, made)
                return made
            if c.kind == "pfifo_fast":
                return {"prio": {"preset": "linux"}}
            if c.kind == "noqueue":
                return dict(LEAF)
            why = ABSENT.get(c.kind)
            known = sorted({*CLASSFUL, *READERS})
            raise u.TcError(
                c.kind, f"{short(c.kind)} is not modelled{f': {why}' if why else ''}", f"these are: {', '.join(known)}" if not why else ""
            )
        except u.TcError as e:
            if e.line or not c.line:
                raise
            raise u.TcError(e.word, e.message, e.help, c.line) from None

    def child(self, parent: tuple[int, int], depth: int) -> Queue:
        """Returns the queue of a class."""
        c = self.device.qdiscs.get(str(parent))
        return dict(LEAF) if c is None else self.queue(c, depth + 1)

    def below(self, c: Command, depth: int) -> Queue | None:
        """Returns the only queue below a discipline; a delay line there is the link's."""
        inner = self.device.qdiscs.get(str((number(c.handle)[0], 1))) or self.device.qdiscs.get(str((number(c.handle)[0], 0)))
        return None if inner is None else self.queue(inner, depth + 1)

    def filters(self, handle: str) -> dict[tuple[int, int], list[str]]:
        """Returns the packets of each class by the filters of a discipline."""
        out: dict[tuple[int, int], list[str]] = {}
        for c in sorted((f for f in self.device.filters if number(f.parent)[0] == number(handle)[0]), key=lambda f: f.pref):
            target = next((c.words[i + 1] for i, w in enumerate(c.words[:-1]) if w in ("flowid", "classid")), "")
            if c.kind == "flow" or ("police" in c.words and not target):
                continue
            found, why = matches_of(c.kind, c.words, c.handle, c.protocol, self.text.marks)
            if found and target:
                out.setdefault(number(target), []).append(found)
            elif not found and c.protocol != "ipv6":
                self.place.note(f"line {c.line}: the filter {short(' '.join([c.kind, *c.words])[:80])} is not modelled{why}")
        return out

    def hash_filter(self, c: Command, made: Queue) -> None:
        """Takes what a flow filter hashes."""
        (values,) = made.values()
        for f in self.device.filters:
            if f.kind == "flow" and number(f.parent)[0] == number(c.handle)[0] and "keys" in f.words[:-1]:
                keys = f.words[f.words.index("keys") + 1]
                by = HASHES.get(keys)
                if by is None:
                    self.place.note(
                        f"line {f.line}: flow hash keys {short(keys)} is not modelled: flows are distinguished by addresses and ports"
                    )
                else:
                    values["hash"] = by


HASHES = {"src,dst,proto,proto-src,proto-dst": "flow", "src": "source", "dst": "destination", "src,dst": "pair"}


def _classes(b: Builder, c: Command, depth: int, bands: int, priomap: list[int]) -> list[tuple[int, dict[str, Any]]]:
    """Returns the bands of prio or ets that packets can reach, with their packets and queues."""
    major = number(c.handle)[0]
    said = b.filters(c.handle)
    matches = [said.get((major, i + 1), []) for i in range(bands)]
    by_priority = {p: priomap[p] if p < len(priomap) else 0 for p in _TOS_PRIORITY.values()}
    others = set(by_priority.values())
    if len(others) == 1:
        (last,) = others
        rest: dict[int, list[str]] = {last: ["any"]}
    else:
        rest = {}
        for point in range(64):
            rest.setdefault(by_priority[_TOS_PRIORITY[point >> 1 & 3]], []).append(f"dscp:{point}")
    for band, points in rest.items():
        if band < bands:
            matches[band] = ["any"] if "any" in points else [*matches[band], *points]
    reached = [i for i in range(bands) if matches[i]]
    anywhere = [i for i in reached if "any" in matches[i]]
    if anywhere and anywhere[0] != reached[-1]:
        first = anywhere[0]
        later = {m for i in reached if i > first for m in matches[i]}
        if all(m.startswith("dscp:") for m in later):
            taken = {m for i in reached if i != first for m in matches[i]}
            named = {_point(m) for m in taken}
            matches[first] = [f"dscp:{p}" for p in range(64) if p not in named]
        else:
            b.place.note(f"{c.kind}: packets that no filter names go to band {first + 1} here before later bands see them")
    return [(i, {"match": matches[i][0] if len(matches[i]) == 1 else matches[i], "queue": b.child((major, i + 1), depth)}) for i in reached]


def _point(match: str) -> int:
    from .trees import CODE_POINTS

    value = match.partition(":")[2]
    return CODE_POINTS.get(value, int(value) if value.isdecimal() else -1)


def _bands(c: Command, words: list[str]) -> tuple[int, int, list[int], list[int]]:
    """Returns bands, strict bands, quanta and the priority map of prio or ets."""
    bands = strict = 0
    quanta: list[int] = []
    priomap: list[int] = []
    into: list[int] | None = None
    rest = iter(words)
    for w in rest:
        if w in ("bands", "strict"):
            n = u.count(next(rest, ""), "")
            bands, strict = (n, strict) if w == "bands" else (bands, n)
            into = None
        elif w in ("quanta", "priomap"):
            into = quanta if w == "quanta" else priomap
        elif w in ("multiqueue", "multiqueue:", "on", "off"):
            continue
        elif into is None:
            raise u.TcError(
                w, f"{c.kind} has no word {short(w)}", "its words are bands, priomap" + (", strict, quanta" if c.kind == "ets" else "")
            )
        else:
            into.append(u.size(w) if into is quanta else u.count(w, ""))
    bands = bands or (strict + len(quanta)) or 3
    if not 1 <= bands <= _NUMBERS or strict > bands or len(quanta) + strict > bands or len(priomap) > _NUMBERS:
        raise u.TcError("bands", f"{c.kind} has at most {_NUMBERS} bands, each of which has one place", "write for instance bands 3")
    if any(x >= bands for x in priomap):
        raise u.TcError("priomap", f"{c.kind}: priomap names a band above {bands - 1}", "bands count from 0 there")
    return bands, strict, quanta, priomap


def _prio(b: Builder, c: Command, depth: int) -> Queue:
    bands, _, _, priomap = _bands(c, c.words)
    made = [entry for _, entry in _classes(b, c, depth, bands, [*priomap, *_PRIOMAP[len(priomap) :]])]
    return {"prio": {"classes": made}}


def _ets(b: Builder, c: Command, depth: int) -> Queue:
    bands, strict, quanta, priomap = _bands(c, c.words)
    for i in range(bands):
        own = b.device.classes.get((number(c.handle)[0], i + 1))
        if own is not None and "quantum" in own.words[:-1] and i >= strict:
            quanta += [1514] * (i - strict + 1 - len(quanta))
            quanta[i - strict] = u.size(own.words[own.words.index("quantum") + 1])
    quanta += [1514] * (bands - strict - len(quanta))
    made = _classes(b, c, depth, bands, priomap or [bands - 1] * _NUMBERS)
    shared = [(i, entry) for i, entry in made if i >= strict]
    sizes = [max(1, quanta[i - strict]) for i, _ in shared]
    unit = common(sizes) if sizes else 1
    if any(size // unit > 1000 for size in sizes):
        b.place.note(f"ets: quanta of {', '.join(map(str, sizes))} bytes are rounded to weights of their smallest")
        unit = min(sizes)
    fair: Queue = {
        "wrr": {
            "count": "bytes", "quantum": f"{unit}B",
            "classes": [{**entry, "weight": max(1, round(size / unit))} for (_, entry), size in zip(shared, sizes, strict=True)],
        }
    }  # fmt: skip
    before = [entry for i, entry in made if i < strict]
    if not before:
        return fair
    return {"prio": {"classes": [*before, {"match": "any", "queue": fair}] if shared else before}}


def _drr(b: Builder, c: Command, depth: int) -> Queue:
    major = number(c.handle)[0]
    own = {k: v for k, v in sorted(b.device.classes.items()) if k[0] == major and k[1]}
    many = next((v for v in b.device.classes.values() if v.many and number(v.handle.partition(":")[0] + ":")[0] == major), None)
    if many is not None:
        return _drr_by_hash(b, c, many)
    said = b.filters(c.handle)
    classes = []
    for key, made in own.items():
        quantum = made.words[made.words.index("quantum") + 1] if "quantum" in made.words[:-1] else "1514"
        found = said.get(key, [])
        if found:
            match = "any" if "any" in found else found[0] if len(found) == 1 else found
            classes.append({"match": match, "quantum": f"{u.size(quantum)}B", "queue": b.child(key, depth)})
        else:
            b.place.note(f"drr: no filter sends packets to the class {made.handle}: it is left out")
    if not classes:
        raise u.TcError(
            "drr", "drr needs classes and filters that choose them", "add tc class add ... drr quantum 1514 and a filter for each"
        )
    if classes[-1]["match"] != "any":
        b.place.note("drr drops packets that no filter names; here the last class takes them")
    return {"drr": {"classes": classes}}


def _drr_by_hash(b: Builder, c: Command, many: Command) -> Queue:
    """Returns the queue of the loop over classes that `fairlane tc` writes for drr by flow."""
    quantum = many.words[many.words.index("quantum") + 1] if "quantum" in many.words[:-1] else "1514"
    inner = next((x for x in b.device.qdiscs.values() if x.many), None)
    made: Queue = {"drr": {"quantum": f"{u.size(quantum)}B", "buckets": many.many}}
    if inner is not None and inner.kind in ("pfifo", "bfifo"):
        (leaf,) = queue_of(inner.kind, inner.words, b.place).values()
        made["drr"]["limit"] = leaf["limit"]
        b.place.note("drr: each class has the limit of its queue in Linux, here one limit holds for all")
    b.hash_filter(c, made)
    return made


def _tbf(b: Builder, c: Command, depth: int) -> Queue:
    said = heard("tbf", c.words)
    for note in said.notes:
        b.place.note(note)
    v = said.values
    if "rate" not in v or "burst" not in v:
        raise u.TcError("tbf", "tbf needs rate and burst", "write for instance tbf rate 10mbit burst 15k latency 50ms")
    framed(v, b.place.header())
    b.place.counts_bytes()
    span = said.extra.get("_latency")
    limit = v.pop("limit", None)
    if limit is None and not isinstance(span, str):
        raise u.TcError("tbf", "tbf needs limit or latency", "write for instance tbf rate 10mbit burst 15k latency 50ms")
    if limit is None and isinstance(span, str):
        size = q.number(v["rate"], "bit/s") / 8 * q.seconds(span) + q.size(v["burst"])
        if "peakrate" in v:
            size = min(size, q.number(v["peakrate"], "bit/s") / 8 * q.seconds(span) + q.size(v.get("mtu", "0B")))
        limit = f"{int(size)}B"
    if "peakrate" not in v:
        v.pop("mtu", None)
    inner = b.below(c, depth)
    return {"tbf": {**v, "queue": inner or {"droptail": {"limit": limit}}}}


def _tree(b: Builder, c: Command, depth: int) -> Tree:
    """Returns the classes of a discipline."""
    major = number(c.handle)[0]
    own = {k: v for k, v in sorted(b.device.classes.items()) if k[0] == major and k[1]}
    parents = {k: number(v.parent) for k, v in own.items() if number(v.parent) in own}
    return Tree(c, own, parents, b.filters(c.handle), b.text.names, b.place, lambda key: b.child(key, depth))


def _shaper(b: Builder, c: Command, depth: int) -> Queue:
    """Returns the tree of classes; one class at the root is the rate of the link, unless it counts bytes of the link layer."""
    tree = _tree(b, c, depth)
    leaves = tree.leaves()
    counts_frames = any(w.word in x.words for x in tree.classes.values() for w in LINK_LAYER)
    if len(leaves) != 1 or counts_frames or not _alone(b, c, ("netem",)):
        return TREES[c.kind](tree)
    slowest = tree.rate()
    if b.rate is not None:
        slowest = min(slowest, b.rate, key=lambda r: q.number(r, "bit/s"))
    b.rate = slowest
    b.place.rate = int(q.number(slowest, "bit/s"))
    b.place.counts_bytes()
    return b.child(leaves[0], depth)


def _netem(b: Builder, c: Command, depth: int) -> Queue:
    if depth and not _alone(b, c):
        raise u.TcError("netem", "the delay of one class is not modelled", "put netem at the root, or below a shaper of one class")
    found = netem(c.words)
    for note in found.notes:
        b.place.note(note)
    b.line.add(found)
    if found.rate is not None:
        b.rate = found.rate if b.rate is None else min(found.rate, b.rate, key=lambda r: q.number(r, "bit/s"))
        b.place.rate = int(q.number(b.rate, "bit/s"))
        b.place.counts_bytes()
    inner = b.below(c, depth)
    if inner is not None:
        return inner
    if found.delay and (found.rate is not None or found.limit < DEVICE_QUEUE):
        b.place.note(f"netem's limit of {found.limit} packets counts those on their way, too; here it is the queue's alone")
    return {"droptail": {"limit": f"{found.limit}p"}}


def _alone(b: Builder, c: Command, above: tuple[str, ...] = ("tbf", "netem", *TREES)) -> bool:
    """Returns True if a discipline is at the root, or only these are above it, none with several classes."""
    for _ in range(DEEPEST):
        if c.parent == "root":
            return True
        major = number(c.parent)[0]
        over = next((x for x in b.device.qdiscs.values() if number(x.handle)[0] == major), None)
        if over is None or over.kind not in above or (over.kind in TREES and len(_tree(b, over, 0).leaves()) != 1):
            return False
        c = over
    return False


def _gred(b: Builder, c: Command, depth: int) -> Queue:
    from .gred_words import gred

    mine = [x for x in b.device.changes if number(x.handle)[0] == number(c.handle)[0] or not x.handle]
    return gred(c.words, [x.words for x in mine], b.text.virtual, b.place)


CLASSFUL: dict[str, Callable[[Builder, Command, int], Queue]] = {
    "prio": _prio, "ets": _ets, "drr": _drr, "tbf": _tbf, "htb": _shaper, "hfsc": _shaper, "netem": _netem, "gred": _gred,
}  # fmt: skip
"""Disciplines with classes or with a queue below them: a new one is an entry."""
