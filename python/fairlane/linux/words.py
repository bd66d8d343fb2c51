"""The words of tc for each discipline with the parameters that they set: one declaration, from which commands are written and read."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ..errors import short
from . import quantities as q
from . import tc_units as u
from .plan import Plan, Table, in_packets

PIE_SCALE = 16
"""tc's alpha and beta are sixteenths of those of RFC 8033 (alpha 2 and beta 20 stand for 0.125 and 1.25), whole numbers from 0 to 32."""
FULL = 1500
"""Bytes of a packet where tc counts packets and a scenario bytes."""


@dataclass(frozen=True)
class Form:
    """Notation of a value: of a parameter for tc, and of tc's text as a parameter."""

    read: Callable[[str], Any]
    write: Callable[[Plan, Table, str], object] | None = None
    """None: the discipline's own writer has it."""


def micro(plan: Plan, span: Fraction, what: str) -> str:
    """Returns a time in whole microseconds: tc's parser has no finer unit, except for netem."""
    whole = Fraction(max(1, round(span * 10**6)), 10**6) if span else span
    if whole != span:
        plan.note(f"tc's times are whole microseconds: {what} is {q.time(whole)} for {float(span) * 1e6:.6g} us")
    return q.time(whole) if span else "0us"


def _micro(plan: Plan, t: Table, key: str) -> str:
    return micro(plan, q.seconds(t[key]), f"{t.name}.{key}")


def _sixteenths(plan: Plan, t: Table, key: str) -> int:
    exact = float(t[key]) * PIE_SCALE
    whole = min(32, max(0, round(exact)))
    if abs(whole - exact) > 1e-9:
        plan.note(f"tc's {key} is a whole number of sixteenths up to 2: {whole}/16 for {t[key]:g}")
    return whole


def _percentage(plan: Plan, t: Table, key: str) -> int:
    whole = min(99, max(1, round(100 * float(t[key]))))
    if abs(whole - 100 * t[key]) > 1e-9:
        plan.note(f"tc's percentage for {key} is a whole number: {whole} % for {t[key]:g}")
    return whole


PACKETS = Form(lambda x: f"{u.count(x)}p", in_packets)
SIZE = Form(lambda x: f"{u.size(x)}B", lambda _, t, key: q.size(t[key]))
TIME = Form(lambda x: q.time(u.seconds(x)), _micro)
COUNT = Form(u.count, lambda _, t, key: t[key])
RATE = Form(u.rate, lambda _, t, key: q.rate(q.number(t[key], "bit/s")))
SHARE = Form(u.share, lambda _, t, key: q.share(t[key]))
SIXTEENTHS = Form(lambda x: u.count(x) / PIE_SCALE, _sixteenths)
PERCENTAGE = Form(lambda x: u.count(x, "%") / 100, _percentage)
MILLISECONDS = Form(lambda x: q.time(u.seconds(x if not x.isdecimal() else f"{x}ms")))
SECONDS = Form(lambda x: f"{u.count(x, 'sec')}s")
PACKET_RATE = Form(lambda x: u.bits(u.count(x, "pps") * FULL * 8))
FULL_PACKETS = Form(lambda x: f"{u.count(x) * FULL}B")
MINOR = Form(u.minor)
IGNORED = Form(lambda x: x)


@dataclass(frozen=True)
class Word:
    """A word of tc, the parameter that it sets, and how."""

    word: str
    form: Form | None
    """None: a switch without a value."""
    key: str = ""
    """Parameter, or the name of a value for the discipline's reader; empty: not modelled."""
    value: Any = None
    """Value that a switch sets."""
    note: str = ""
    """Reason that it is not modelled."""
    when: str = ""
    """Parameter without which the word is not written."""
    also: tuple[str, ...] = ()
    """Other spellings."""


def word(name: str, form: Form, key: str | None = None, **more: Any) -> Word:
    """Creates a word with a value; the parameter has its name unless `key` is given."""
    return Word(name, form, name if key is None else key, **more)


def switch(name: str, key: str, value: Any = True, **more: Any) -> Word:
    """Creates a word without a value."""
    return Word(name, None, key, value, **more)


def absent(name: str, note: str, form: Form | None = IGNORED, **more: Any) -> Word:
    """Creates a word that is not modelled."""
    return Word(name, form, "", None, note, **more)


def default(name: str) -> Word:
    """Creates a switch for what always holds here."""
    return Word(name, None, "", None, "")


def _both(name: str, key: str, off: str = "") -> tuple[Word, Word]:
    return switch(name, key, True), switch(off or f"no{name}", key, False)


_ECN = _both("ecn", "ecn")
_CODEL = (word("target", TIME), word("interval", TIME), *_ECN, word("ce_threshold", TIME))
_SELECTOR = absent("ce_threshold_selector", "the threshold holds for all packets that offer ECN")
_PIE = (
    word("target", TIME), word("tupdate", TIME), word("alpha", SIXTEENTHS), word("beta", SIXTEENTHS),
    *_both("bytemode", "byte_mode"), switch("dq_rate_estimator", "estimate", "dequeue_rate"),
    switch("no_dq_rate_estimator", "estimate", "timestamp"), *_ECN,
)  # fmt: skip
_FLOWS = (word("limit", PACKETS), word("flows", COUNT), word("quantum", SIZE))
_MEMORY = word("memory_limit", SIZE)
_RED = (
    word("limit", SIZE), word("min", SIZE), word("max", SIZE), word("avpkt", SIZE, "mean_packet"), word("burst", COUNT, "_burst"),
    word("probability", SHARE, "max_p"), word("bandwidth", RATE, "_bandwidth"), switch("ecn", "ecn"), switch("harddrop", "_harddrop"),
    word("ewma", COUNT, "_ewma"), absent("Scell_log", ""), absent("Plog", ""),
)  # fmt: skip
_NO_RED = "there is no RED inside of SFQ"
_IN_PACKETS = (word("limit", PACKETS), word("min", PACKETS), word("max", PACKETS))
_CAKE_FRAMES = {
    "ipoa-vcmux": ("atm", 8), "ipoa-llcsnap": ("atm", 16), "bridged-vcmux": ("atm", 24), "bridged-llcsnap": ("atm", 32),
    "pppoa-vcmux": ("atm", 10), "pppoa-llc": ("atm", 14), "pppoe-vcmux": ("atm", 32), "pppoe-llcsnap": ("atm", 40),
    "pppoe-ptm": ("ptm", 30), "bridged-ptm": ("ptm", 22), "docsis": ("none", 18), "ethernet": ("", 38), "ether-vlan": ("", 4),
}  # fmt: skip
"""cake's words for framing: cells, and bytes that they add (tc-cake(8))."""
_CAKE_LEAST = {"docsis": 64, "ethernet": 84}
_CAKE_RTT = {
    "datacentre": "100us", "lan": "1ms", "metro": "10ms", "regional": "30ms", "internet": "100ms", "oceanic": "300ms",
    "satellite": "1s", "interplanetary": "1000s",
}  # fmt: skip
ACK_FILTERS = {"none": "no-ack-filter", "filter": "ack-filter", "aggressive": "ack-filter-aggressive"}
"""Words of cake for `ack_filter`."""
_TINS = ("besteffort", "precedence", "diffserv3", "diffserv4", "diffserv8")
_ISOLATION = ("flowblind", "srchost", "dsthost", "hosts", "flows", "dual-srchost", "dual-dsthost", "triple-isolate")
_CAKE = (
    word("bandwidth", RATE), switch("unlimited", "bandwidth", None), word("rtt", TIME),
    *(switch(name, "rtt", span) for name, span in _CAKE_RTT.items()),
    *(switch(name, "tins", name) for name in _TINS), switch("diffserv", "tins", "diffserv4"),
    *(switch(name, "isolation", name.replace("-", "_")) for name in _ISOLATION),
    *(switch(name, "framing", name) for name in ("atm", "ptm")), switch("noatm", "framing", "none"), switch("raw", "_raw"),
    switch("conservative", "_frame", ("atm", 48)), *(switch(name, "_frame", f) for name, f in _CAKE_FRAMES.items()),
    word("overhead", Form(lambda x: int(x) if x.lstrip("+-").isdecimal() and len(x) < 6 else u.count(x)), "_overhead"),
    word("mpu", Form(lambda x: f"{u.count(x)}B")), word("memlimit", SIZE, "limit"),
    default("via-ethernet"), default("nonat"), default("split-gso"), default("no-split-gso"),
    *_both("wash", "wash"), switch("ingress", "ingress"), switch("egress", "ingress", False),
    *(switch(name, "ack_filter", value) for value, name in ACK_FILTERS.items()),
    absent("nat", "addresses are not translated here", None), absent("autorate-ingress", "the rate is fixed", None),
    absent("fwmark", "there are no firewall marks here"),
)  # fmt: skip

_LINK_LAYERS = {"ethernet": "ethernet", "atm": "atm", "adsl": "atm"}


def _link_layer(text: str) -> str:
    found = _LINK_LAYERS.get(text)
    if found is None:
        raise u.TcError(text, f"{short(text)} is no link layer of tc", f"write {', '.join(_LINK_LAYERS)}")
    return found


_LENGTH = Form(lambda x: f"{min(u.count(x, 'b'), 65535)}B")
LINK_LAYER = (word("overhead", _LENGTH), word("mpu", _LENGTH), word("linklayer", Form(_link_layer)))
"""Words for what a rate counts of a packet."""
SLOWEST_MTU = 2040
"""Longest packet in bytes that conforms unless `mtu` is given: the end of the kernel's rate table."""

WORDS: dict[str, tuple[Word, ...]] = {
    "pfifo": (word("limit", PACKETS),),
    "bfifo": (word("limit", SIZE),),
    "pfifo_head_drop": (word("limit", PACKETS),),
    "codel": (word("limit", PACKETS), *_CODEL),
    "pie": (word("limit", PACKETS), *_PIE),
    "fq_codel": (*_FLOWS, *_CODEL, _SELECTOR, word("drop_batch", COUNT), _MEMORY),
    "fq_pie": (*_FLOWS, *_PIE, word("ecn_prob", PERCENTAGE, "mark_ecnth", when="ecn"), _MEMORY),
    "red": (*_RED, switch("adaptive", "_adaptive", also=("adaptative",)), absent("nodrop", "early drops stay", None)),
    "choke": (*_IN_PACKETS, *_RED[3:8], *_RED[9:]),
    "sfb": (
        word("rehash", MILLISECONDS), word("db", MILLISECONDS, "warmup"), word("limit", PACKETS), word("max", PACKETS, "bin_limit"),
        word("target", PACKETS, "bin_size"), word("increment", SHARE), word("decrement", SHARE), word("penalty_rate", PACKET_RATE),
        word("penalty_burst", FULL_PACKETS),
    ),
    "sfq": (
        word("limit", PACKETS), word("quantum", SIZE), word("divisor", COUNT, "buckets"), word("flows", COUNT, "_flows"),
        word("depth", PACKETS), word("perturb", SECONDS), switch("headdrop", "drop", "head"),
        *(absent(name, _NO_RED) for name in ("redflowlimit", "min", "max", "avpkt", "burst", "probability", "ewma")),
        absent("harddrop", _NO_RED, None), absent("ecn", _NO_RED, None),
    ),
    "dualpi2": (
        word("limit", PACKETS), word("coupling_factor", COUNT, "k"), word("step_thresh", Form(lambda x: x), "_step"),
        word("min_qlen_step", COUNT, "th_len"), word("classic_protection", PERCENTAGE, "classic_share"), word("target", TIME),
        word("tupdate", TIME), word("alpha", Form(lambda x: float(u.share(x) if x.startswith("0") else _gain(x))), "alpha"),
        word("beta", Form(lambda x: float(u.share(x) if x.startswith("0") else _gain(x))), "beta"), word("max_rtt", TIME, "_max_rtt"),
        word("typical_rtt", TIME, "_typical_rtt"), absent("memlimit", "the memory of packets is not limited"), default("l4s_ect"),
        absent("any_ect", "ECT(0) is classic traffic", None), default("drop_on_overload"),
        absent("overflow", "an overload drops", None), default("drop_dequeue"), absent("drop_enqueue", "drops are at dequeue", None),
        default("split_gso"), default("no_split_gso"),
    ),
    "cake": _CAKE,
    "htb": (
        word("default", MINOR), word("r2q", COUNT, "rate2quantum"), word("direct_qlen", PACKETS, "direct_limit"),
        absent("offload", "the network card does not shape", None),
    ),
    "htb class": (
        word("rate", RATE), word("ceil", RATE), word("burst", SIZE, also=("buffer", "maxburst")),
        word("cburst", SIZE, also=("cbuffer", "cmaxburst")), word("prio", COUNT), word("quantum", SIZE),
        absent("mtu", "packets have no greatest size", also=("minburst",)), *LINK_LAYER, Word("level", IGNORED),
    ),
    "hfsc": (word("default", MINOR),),
    "tbf": (
        word("rate", RATE), word("burst", SIZE, also=("buffer", "maxburst")), word("limit", SIZE),
        word("latency", TIME, "_latency", also=("lat",)),
        word("peakrate", RATE), word("mtu", SIZE, also=("minburst",)), *LINK_LAYER,
    ),
    "police": (
        word("rate", RATE), word("burst", SIZE, also=("buffer", "maxburst")), word("peakrate", RATE),
        word("mtu", SIZE, also=("minburst",)), *LINK_LAYER, absent("avrate", "the rate of an estimator is not measured"),
        absent("pkts_rate", "packets are not counted"), absent("pkts_burst", "packets are not counted"),
    ),
}  # fmt: skip
"""Words by discipline, in the order in which they are written."""


def _gain(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 <= found <= 256:
        raise u.TcError(text, f"{text[:40]} is no gain", "write for instance 0.16")
    return found


def link_layer(t: Table | dict[str, Any]) -> list[object]:
    """Returns the words for what a rate counts, of parameters that are not the default."""
    out: list[object] = []
    for key in ("overhead", "mpu"):
        out += [key, q.size(t[key])] if q.size(t[key]) else []
    return [*out, "linklayer", t["linklayer"]] if t["linklayer"] != "ethernet" else out


def framed(values: dict[str, Any], place_bytes: int) -> None:
    """Adds the bytes that Linux counts in front of the IP packet to an overhead that was said; `place_bytes` is their number."""
    if any(w.key in values for w in LINK_LAYER):
        total = q.size(values.get("overhead", "0B")) + place_bytes
        values["overhead"] = f"{max(0, total)}B"


def written(kind: str, plan: Plan, t: Table, only: tuple[str, ...] = ()) -> list[object]:
    """Returns the words of a discipline for a table of parameters; unset ones are left out."""
    out: list[object] = []
    switches: set[str] = set()
    for w in WORDS[kind]:
        if not w.key or w.key.startswith("_") or w.key not in t.values or (only and w.word not in only):
            continue
        if w.form is None:
            if w.key in switches:
                continue
            switches.add(w.key)
            on = t[w.key]
            found = next((x.word for x in WORDS[kind] if x.key == w.key and x.value == on), None)
            out += [found] if found else []
        elif w.form.write is not None and t[w.key] is not None and (not w.when or t[w.when]):
            out += [w.word, w.form.write(plan, t, w.key)]
    return out


@dataclass
class Said:
    """Values of the words of a discipline."""

    values: dict[str, Any] = field(default_factory=dict)
    """Parameters of the queue."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Values for the discipline's reader."""
    notes: list[str] = field(default_factory=list)
    frames: list[tuple[str, int]] = field(default_factory=list)


_PREFIXES = ("tbf", "netem")
"""Disciplines whose words may be shortened."""


def find(kind: str, text: str) -> Word | None:
    """Returns the declaration of a word."""
    words = WORDS[kind]
    found = next((w for w in words if text == w.word or text in w.also), None)
    if found is None and kind in _PREFIXES and text:
        found = next((w for w in words if w.word.startswith(text)), None)
    return found


def heard(kind: str, words: list[str]) -> Said:
    """Reads the words of a discipline; raises `TcError` for one that tc does not have."""
    from difflib import get_close_matches

    said = Said()
    at = 0
    while at < len(words):
        text = words[at]
        at += 1
        w = find(kind, text)
        if w is None:
            names = [x.word for x in WORDS[kind]]
            near = get_close_matches(text, names, n=1, cutoff=0.6)
            known = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
            raise u.TcError(text, f"{kind} has no word {short(text)}", f"did you mean {near[0]}?" if near else f"its words are {known}")
        value = w.value
        if w.form is not None:
            if at >= len(words):
                raise u.TcError(text, f"{kind}: {text} needs a value", f"write {text} and its value")
            # `tc qdisc show` has bandwidth unlimited.
            value = None if (kind, w.word, words[at]) == ("cake", "bandwidth", "unlimited") else w.form.read(words[at])
            at += 1
        if w.note:
            said.notes.append(f"{kind}: {w.word}{f' {value}' if w.form is IGNORED else ''} is not modelled: {w.note}")
        if w.key == "_frame":
            said.frames.append(value)
            if w.word in _CAKE_LEAST:
                said.values["mpu"] = f"{_CAKE_LEAST[w.word]}B"
        elif w.key.startswith("_"):
            said.extra[w.key] = value
        elif w.key:
            said.values[w.key] = value
    return said


__all__ = [
    "ACK_FILTERS", "FULL", "PIE_SCALE", "SLOWEST_MTU", "WORDS", "Said", "Word", "find", "framed", "heard", "link_layer", "micro", "written",
]  # fmt: skip
