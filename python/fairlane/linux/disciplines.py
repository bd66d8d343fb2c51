"""The queue of a scenario for each discipline of Linux without classes: `READERS` is the counterpart of `kinds.WRITERS`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd
from typing import Any

from . import quantities as q
from . import tc_units as u
from .plan import ETHERNET_HEADER, FULL_PACKET
from .words import FULL, Said, heard

DEVICE_QUEUE = 1000
"""Packets of a device's queue unless set: txqueuelen of Ethernet."""


@dataclass
class Place:
    """Where a discipline is: what it counts of a packet, and the rate of its link if known."""

    stab: int = 0
    """Bytes that the size table of the root adds to a frame: -14 for IP packets."""
    rate: int | None = None
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Adds a note, once."""
        if text not in self.notes:
            self.notes.append(text)

    def header(self) -> int:
        """Returns the bytes in front of the IP packet that Linux counts."""
        return self.stab + ETHERNET_HEADER

    def counts_bytes(self) -> None:
        """Notes that bytes include the link layer's header."""
        if self.header():
            self.note(
                f"Linux counts {self.header()} bytes of the link layer in each packet unless a size table (stab) takes them "
                "off; here bytes and rates are those of IP packets"
            )


Finish = Callable[[Said, Place], None]


@dataclass(frozen=True)
class Discipline:
    """The queue for a discipline: its preset, the kernel's values that precede it, and what words say together."""

    queue: str
    preset: str = ""
    base: dict[str, Any] = field(default_factory=dict)
    finish: Finish | None = None


def _weight(said: Said, low: float, mean: int, place: Place, default: int, kind: str) -> float:
    """Returns the weight that tc finds from `burst`, and takes the words for it out of the way."""
    log = said.extra.get("_ewma")
    if log is None:
        burst = said.extra.get("_burst") or default
        if burst + 1 - low < 1:
            raise u.TcError("burst", f"{kind}: a burst of {burst} packets is below min", f"write burst {int(low) + 1} or more")
        log = q.log_of_burst(low, burst)
    bandwidth = said.extra.get("_bandwidth", "10Mbit/s")
    if place.rate is None or q.number(bandwidth, "bit/s") != place.rate:
        place.note(f"{kind}: bandwidth {bandwidth} is not used: idle time counts at the rate of the link here")
    return float(0.5**log)


def _red(said: Said, place: Place) -> None:
    v = said.values
    if "limit" not in v or not (mean := q.size(v.get("mean_packet", "0B"))):
        if {"limit", "min", "max"} <= {*v} and "mean_packet" not in v and "_burst" not in said.extra:
            return _shown_red(said, place)
        raise u.TcError("red", "red needs limit and avpkt", "write for instance red limit 400000 min 30000 max 90000 avpkt 1000")
    limit = q.size(v["limit"])
    high = q.size(v["max"]) if "max" in v else 3 * q.size(v["min"]) if "min" in v else limit // 4
    low = q.size(v["min"]) if "min" in v else high // 3
    v["w_q"] = _weight(said, low / mean, mean, place, (2 * low + high) // (3 * mean), "red")
    return _red_values(said, low, high, place)


def _shown_red(said: Said, place: Place) -> None:
    log = said.extra.get("_ewma")
    weight = "the automatic weight are" if log is None else ""
    place.note(
        f"red: tc shows no avpkt{' and, without -d, no weight' if weight else ''}: avpkt 1000{' and ' + weight if weight else ' is'} taken"
    )
    said.values |= {"mean_packet": "1000B", **({} if log is None else {"w_q": 0.5**log})}
    _red_values(said, q.size(said.values["min"]), q.size(said.values["max"]), place)


def _red_values(said: Said, low: int, high: int, place: Place) -> None:
    v = said.values
    v |= {"min": f"{low}B", "max": f"{high}B", "max_p": v.get("max_p", 0.02)}
    place.counts_bytes()
    hard = said.extra.get("_harddrop", False)
    if said.extra.get("_adaptive"):
        v["_queue"] = "ared"
        v |= {"bottom": 0.01}
        if v.get("ecn") and not hard:
            v["gentle"] = True
            place.note(
                "red adaptive ecn without harddrop: sch_red marks every packet above max, here the share of them grows to all at twice max"
            )
    else:
        v["hard_drop"] = hard or not v.get("ecn", False)


def _choke(said: Said, place: Place) -> None:
    v = said.values
    if "limit" not in v:
        raise u.TcError("choke", "choke needs limit and bandwidth", "write for instance choke limit 1000 bandwidth 10mbit")
    limit = int(v["limit"][:-1])
    high = int(v["max"][:-1]) if "max" in v else limit // 4
    low = int(v["min"][:-1]) if "min" in v else high // 3
    if low < 1:
        raise u.TcError("choke", "choke: min is below one packet", "write for instance min 5 max 15")
    v["w_q"] = _weight(said, float(low), 1, place, (2 * low + high) // 3, "choke")
    v |= {"min": f"{low}p", "max": f"{high}p", "max_p": v.get("max_p", 0.02)}


def _bfifo(said: Said, place: Place) -> None:
    said.values.setdefault("limit", f"{DEVICE_QUEUE * (FULL_PACKET + ETHERNET_HEADER)}B")
    place.counts_bytes()


def _pie(said: Said, _: Place) -> None:
    # sch_pie works from a third of its limit on.
    said.values["start"] = f"{max(1, int(said.values.get('limit', f'{DEVICE_QUEUE}p')[:-1]) // 3)}p"


def _sfb(said: Said, _: Place) -> None:
    v = said.values
    if "bin_size" in v and "bin_limit" not in v:
        v["bin_limit"] = f"{(int(v['bin_size'][:-1]) * 5 + 1) // 4}p"
    elif "bin_limit" in v and "bin_size" not in v:
        v["bin_size"] = f"{(int(v['bin_limit'][:-1]) * 4 + 3) // 5}p"
    v.setdefault("penalty_rate", u.bits(10 * FULL * 8))
    v.setdefault("penalty_burst", f"{20 * FULL}B")
    if v.get("rehash") in ("0s", "0ms"):
        v["rehash"] = "off"
        v.pop("warmup", None)


def _sfq(said: Said, place: Place) -> None:
    v = said.values
    limit, depth, flows = int(v.get("limit", "127p")[:-1]), int(v.get("depth", "127p")[:-1]), said.extra.get("_flows", 128)
    if v.get("perturb") == "0s":
        v["perturb"] = "off"
    if "limit" in v and limit > depth * flows:
        v["limit"] = f"{depth * flows}p"
    if flows < min(limit, 128):
        place.note(f"sfq: flows {flows} is not modelled: any number of flows has a queue")
    if "quantum" in v and v["quantum"] == "0B":
        del v["quantum"]


def _dualpi2(said: Said, place: Place) -> None:
    v, x = said.values, said.extra
    step = x.get("_step")
    if step is not None:
        if step.endswith("p") or step.endswith("packets"):
            place.note(f"dualpi2: step_thresh {step} is not modelled: a step in packets; the default of 1 ms is taken")
        else:
            v["min_th"] = q.time(u.seconds(step))
    longest, usual = (q.seconds(x[k]) if k in x else None for k in ("_max_rtt", "_typical_rtt"))
    if longest is None and usual is None:
        return
    if longest is None:
        longest = (usual or Fraction(0)) * 6  # RTT_TYP_TO_MAX of iproute2
    usual = longest / 6 if usual is None else usual
    update = min(usual, longest / 3)
    if not longest or not update:
        raise u.TcError("max_rtt", "dualpi2: the round-trip times are zero", "write for instance max_rtt 100ms")
    v |= {"target": q.time(usual), "tupdate": q.time(update), "alpha": float(update / longest**2 / 10), "beta": 0.3 / float(longest)}


MOST_UNCOUNTED = 64
"""Largest `uncounted` of cake: tc's overhead is not below its negative."""


def _cake(said: Said, place: Place) -> None:
    v, x = said.values, said.extra
    bytes_set = "_overhead" in x or bool(said.frames)
    added = 0
    for cells, more in said.frames:
        v["framing"] = cells or v.get("framing", "none")
        added = more if cells == "atm" and more == 48 else added + more
    added = x.get("_overhead", added)
    # With `overhead` cake counts from the network layer; raw, it counts the frame (sch_cake, cake_overhead).
    total = place.stab + (added if bytes_set and not (x.get("_raw") and not added) else ETHERNET_HEADER)
    if total < -MOST_UNCOUNTED:
        place.note(f"cake: an overhead of {total} bytes is not modelled: {-MOST_UNCOUNTED} is taken")
    v["overhead"] = f"{max(0, total)}B"
    if total < 0:
        v["uncounted"] = f"{min(-total, MOST_UNCOUNTED)}B"
    v.setdefault("bandwidth", "off")
    if v["bandwidth"] is None or v["bandwidth"] == "0bit/s":
        v["bandwidth"] = "off"
    if "limit" in v:
        place.note("cake: memlimit counts the kernel's buffers, which are larger than the packets in them")
        if v["limit"] == "0B":
            del v["limit"]


READERS: dict[str, Discipline] = {
    "pfifo": Discipline("droptail", base={"limit": f"{DEVICE_QUEUE}p"}),
    "bfifo": Discipline("droptail", finish=_bfifo),
    "pfifo_head_drop": Discipline("headdrop", base={"limit": f"{DEVICE_QUEUE}p"}),
    "codel": Discipline("codel", "linux"),
    "pie": Discipline("pie", "linux", finish=_pie),
    "fq_codel": Discipline("fq_codel", "linux"),
    "fq_pie": Discipline("fq_pie", "linux"),
    "red": Discipline("red", base={"gentle": False, "measure": "bytes"}, finish=_red),
    "choke": Discipline("choke", finish=_choke),
    "sfb": Discipline("sfb", "linux", base={"limit": f"{DEVICE_QUEUE}p"}, finish=_sfb),
    "sfq": Discipline("sfq", "linux", finish=_sfq),
    "dualpi2": Discipline("dualpi2", "linux", finish=_dualpi2),
    "cake": Discipline("cake", "linux", finish=_cake),
}
"""Disciplines without classes; the others are in `tc_tree`."""

ABSENT = {
    "fq": "it paces the flows of an end host; here each flow of TCP paces itself, and the nearest queue is fq_codel",
    "hhf": "the nearest is sfq",
    "etf": "it sends at times that the sender sets",
    "taprio": "it opens gates by a schedule",
    "cbs": "the nearest is tbf",
    "mqprio": "it maps priorities to hardware queues; the nearest is prio",
    "multiq": "it maps packets to hardware queues",
    "qfq": "the nearest is wf2q, whose weights those of its classes are",
    "skbprio": "the nearest is prio",
    "plug": "it stops on command",
    "cbq": "it left Linux with 6.3",
    "dsmark": "it left Linux with 6.3",
    "blackhole": "it drops everything",
    "mq": "it has a queue for each hardware queue: give the line of one of them",
}
"""Disciplines without a counterpart: the reason, and what is near."""


def queue_of(kind: str, words: list[str], place: Place) -> dict[str, Any]:
    """Returns the queue for a discipline without classes."""
    of = READERS[kind]
    said = heard(kind, words)
    for note in said.notes:
        place.note(note)
    if of.finish is not None:
        of.finish(said, place)
    name = said.values.pop("_queue", of.queue)
    return {name: {**({"preset": of.preset} if of.preset else {}), **of.base, **said.values}}


def common(numbers: list[int]) -> int:
    """Returns the greatest common divisor of quanta."""
    return gcd(*numbers)
