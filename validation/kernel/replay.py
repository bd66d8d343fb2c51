"""`python -m validation.kernel.replay`: what arrived at the kernel is fed to our endpoints. The first other decision names the mechanism.

A record holds what passed the device of one end of a run: the packets that the kernel sent and received, with their times. The
sending end of ours gets the acknowledgments that the kernel's got, at the same times, and should send the same segments after the same
acknowledgments; the receiving end gets the data and should acknowledge the same.
"""

from __future__ import annotations

import argparse
import lzma
import struct
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from fairlane.tcp import Endpoint, Flag, Segment

from . import machine
from .cases import MSS, Case, select
from .host import ADDRESS

RECORDS = Path(__file__).resolve().parents[1] / "data" / "kernel"
#: New data by which one side may be ahead: where the kernel's queue of packets is cut an odd segment does not wait for another.
LEAD = 4 * MSS
#: Arrivals by which something sent again may be earlier or later, for the same reason.
SLACK = 4
#: Our endpoints begin so long after zero: timestamps of ours are above zero then.
BEGIN_NS = 1_000_000_000
NS_PER_MS = 1_000_000
#: Numbers of a packet in a record, without SACK blocks.
_NUMBERS = 9
_RECORD, _IP, _TCP = struct.Struct("<IIII"), struct.Struct("!BBHHHBBH4s4s"), struct.Struct("!HHIIBBHHH")


@dataclass(frozen=True, slots=True)
class Packet:
    """A segment at the device of one end; numbers count from the SYN of each direction, windows in bytes."""

    ns: int
    out: bool
    """the kernel sent it"""
    seq: int
    ack: int
    flags: Flag
    payload: int
    window: int
    stamps: tuple[int, int]
    sack: tuple[tuple[int, int], ...] = ()
    ecn: int = 0


@dataclass(frozen=True)
class Record:
    """One end of one flow of a run."""

    name: str
    cc: str
    sender: bool
    packets: list[Packet]
    ecn: bool = False

    def save(self, path: Path) -> None:
        """A line for each packet: its direction, and how its numbers differ from those of the last one that way."""
        lines = [f"{self.name} {self.cc} {int(self.sender)} {int(self.ecn)}"]
        last = {True: [0] * _NUMBERS, False: [0] * _NUMBERS}
        for p in self.packets:
            numbers = [p.ns // 100, p.seq, p.ack, int(p.flags), p.payload, p.window, *p.stamps, p.ecn]
            changes = [a - b for a, b in zip(numbers, last[p.out], strict=True)]
            last[p.out] = numbers
            lines.append(" ".join(str(n) for n in [int(p.out), *changes, *(edge - p.ack for block in p.sack for edge in block)]))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(lzma.compress("\n".join(lines).encode(), preset=9))

    @classmethod
    def load(cls, path: Path) -> Record:
        """Reads a file of `save`."""
        head, *lines = lzma.decompress(path.read_bytes()).decode().splitlines()
        name, cc, sender, ecn = head.split()
        packets = []
        last = {True: [0] * _NUMBERS, False: [0] * _NUMBERS}
        for line in lines:
            out, *rest = map(int, line.split())
            last[bool(out)] = numbers = [a + b for a, b in zip(rest[:_NUMBERS], last[bool(out)], strict=True)]
            time, seq, ack, flags, payload, window, value, echo, field = numbers
            edges = [edge + ack for edge in rest[_NUMBERS:]]
            blocks = tuple(zip(edges[::2], edges[1::2], strict=True))
            packets.append(Packet(time * 100, bool(out), seq, ack, Flag(flags), payload, window, (value, echo), blocks, field))
        return cls(name, cc, sender == "1", packets, ecn == "1")

    def first(self, seconds: float) -> Record:
        """Its beginning."""
        end = self.packets[0].ns + int(seconds * 1e9)
        return replace(self, packets=[p for p in self.packets if p.ns < end])


def record(case: Case, number: int = 1) -> list[Record]:
    """Runs a case on the kernel: for each flow its sender and its receiver. Segments are full: its send buffer is roomy."""
    return records(case, machine.run(case, number, capture=True, roomy=True))


def records(case: Case, run: dict[str, Any]) -> list[Record]:
    """Returns the records of a run with captures."""
    found = []
    for flow, cc in enumerate(case.cc):
        for role, file in zip("ab", run["captures"], strict=True):
            address = bytes(int(part) for part in ADDRESS[role].split("."))
            found.append(Record(case.name, cc, role == "a", read_capture(file, address, flow), case.ecn))
    return found


# --- captures ---------------------------------------------------------------------------------------------------------------------------


def read_capture(file: bytes, address: bytes, flow: int = 0) -> list[Packet]:
    """Packets of one flow (the n-th that opened) from a capture of `_core.relay` at the device with this address."""
    seen: list[int] = []
    isn: dict[bool, int] = {}
    first: dict[bool, int] = {}
    shift: dict[bool, int] = {}
    packets = []
    for ns, raw, length in _records(file):
        source = raw[12:16]
        head = (raw[0] & 15) * 4
        sport, dport, seq, ack, offset, bits, window, _, _ = _TCP.unpack_from(raw, head)
        out = source == address
        port = max(sport, dport)
        if port not in seen:
            seen.append(port)
        if seen.index(port) != flow:
            continue
        flags = Flag(bits | (offset & 1) << 8)
        options = _options(raw[head + 20 : head + (offset >> 4) * 4])
        value, echo = struct.unpack("!II", options[8])
        if flags & Flag.SYN:
            isn[out], first[out] = seq, value
            shift[out] = options[3][0] if 3 in options else 0
        if out not in isn:
            continue
        known = (not out) in isn
        origin = isn.get(not out, 0)
        blocks = struct.unpack(f"!{len(options.get(5, b'')) // 4}I", options.get(5, b""))
        packets.append(
            Packet(
                ns,
                out,
                (seq - isn[out]) % 2**32,
                (ack - origin) % 2**32 if known else 0,
                flags,
                length - head - (offset >> 4) * 4,
                window << (0 if flags & Flag.SYN else shift[out]),
                ((value - first[out]) % 2**32, (echo - first.get(not out, 0)) % 2**32 if known else 0),
                tuple(((a - origin) % 2**32, (b - origin) % 2**32) for a, b in zip(blocks[::2], blocks[1::2], strict=True)),
                raw[1] & 3,
            )
        )
    return packets


def _records(file: bytes) -> Iterator[tuple[int, bytes, int]]:
    at = 24
    while at + _RECORD.size <= len(file):
        seconds, ns, kept, length = _RECORD.unpack_from(file, at)
        at += _RECORD.size
        raw = file[at : at + kept]
        at += kept
        if raw[0] >> 4 == 4 and raw[9] == 6:
            yield seconds * 10**9 + ns, raw, length


def _options(raw: bytes) -> dict[int, bytes]:
    found, at = {}, 0
    while at < len(raw) and raw[at] != 0:
        if raw[at] == 1:
            at += 1
            continue
        found[raw[at]] = raw[at + 2 : at + raw[at + 1]]
        at += raw[at + 1]
    return found


# --- replay -----------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sent:
    """Something an end sent: after how many arrivals, and when."""

    after: int
    ns: int
    seq: int
    end: int
    ack: int = 0
    window: int = 0
    sack: tuple[tuple[int, int], ...] = ()
    view: Any = None


def _phase(packets: list[Packet]) -> int:
    """Nanoseconds after a whole millisecond of our clock at which the kernel's timestamps of this end move on."""
    rests = [(p.ns - p.stamps[0] * NS_PER_MS) for p in packets if p.out]
    # A packet leaves after its timestamp was read: the least says where the tick began.
    return min(rests)


def replay(record: Record, params: dict[str, Any] | None = None, views: bool = False) -> tuple[list[Sent], list[Sent]]:
    """Returns the segments of the kernel, and ours for the same arrivals: data of a sender, acknowledgments of a receiver."""
    packets = record.packets
    tcp = {
        "preset": "linux",
        "cc": record.cc,
        "mss": f"{MSS}B",
        "tso_piece": None,
        **({"ecn": "classic"} if record.ecn else {}),
        **(params or {}),
    }
    end = Endpoint(tcp, passive=not record.sender)
    # Our timestamps are the kernel's plus a constant.
    zero = BEGIN_NS - _phase(packets) % NS_PER_MS
    origin = packets[0].ns
    theirs: list[Sent] = []
    ours: list[Sent] = []
    came = 0
    stamp = None
    written = 0
    nxt = 1
    # Where the kernel's queue ran dry a short segment went out.
    ends = [p.seq + p.payload - 1 for p in packets if p.out and 0 < p.payload < MSS]

    def at(ns: int) -> float:
        return (ns - origin // NS_PER_MS * NS_PER_MS + zero) * 1e-9

    def take(now: float, out: list[Segment]) -> None:
        nonlocal stamp, nxt
        for s in out:
            if stamp is None and s.timestamps:
                stamp = s.timestamps[0]
            nxt = max(nxt, s.end)
            if bool(s.payload) == record.sender and not s.flags & Flag.SYN:
                view = end.view() if views else None
                ours.append(
                    Sent(came, round(now * 1e9) - zero + origin // NS_PER_MS * NS_PER_MS, s.seq, s.end, s.ack, s.window, s.sack, view)
                )

    def until(now: float) -> None:
        while (due := end.next_deadline) is not None and due < now:
            take(due, end.advance(due))

    if not record.sender:
        take(0.0, end.start(0.0))
    for p in packets:
        now = at(p.ns)
        until(now)
        if p.out:
            if p.flags & Flag.SYN and record.sender:
                take(now, end.start(now))
            if p.payload and p.seq + p.payload - 1 > written:
                more = next((e for e in ends if e > written and e >= p.seq + p.payload - 1), 1 << 50)
                take(now, end.write(now, more - written))
                written = more
            if p.payload and p.seq + p.payload > nxt:
                # Where the kernel's queue of packets is cut an odd segment does not wait: that depends on when its application wrote.
                take(now, end.push(now))
            if bool(p.payload) == record.sender and not p.flags & Flag.SYN:
                theirs.append(Sent(came, p.ns, p.seq, p.seq + p.payload, p.ack, p.window, p.sack))
            continue
        came += 1
        echo = p.stamps[1] + (stamp or 0)
        window = p.window
        arrived = Segment(p.seq, p.ack, p.payload, p.flags, window, p.sack, (p.stamps[0] + 1, echo if p.ack else 0), p.ecn)
        take(now, end.receive(now, arrived))
    return theirs, ours


def split(sent: list[Sent]) -> tuple[list[Sent], list[Sent]]:
    """New data, and what was sent again."""
    fresh: list[Sent] = []
    again: list[Sent] = []
    nxt = 0
    for s in sent:
        (fresh if s.end > nxt else again).append(s)
        nxt = max(nxt, s.end)
    return fresh, again


def first_difference(theirs: list[Sent], ours: list[Sent], slack: int = 0, lead: int = 0) -> tuple[Sent | None, Sent | None] | None:
    """The first decision of a sender that is not the same: of the kernel, and of ours; None: all are.

    `slack`: arrivals by which something sent again may be earlier or later. `lead`: bytes of new data by which one may be ahead.
    """
    (fresh, again), (our_fresh, our_again) = split(theirs), split(ours)
    found = [_ahead(fresh, our_fresh, lead), _repeats(_known(again, our_fresh), _known(our_again, fresh), slack)]
    return min((pair for pair in found if pair), key=lambda pair: min(s.ns for s in pair if s), default=None)


def _ahead(theirs: list[Sent], ours: list[Sent], lead: int) -> tuple[Sent | None, Sent | None] | None:
    """Where one side's new data is further than the other's by more than `lead`."""
    nxt = [1, 1]
    at = [0, 0]
    lists = (theirs, ours)
    last = max((side[-1].after for side in lists if side), default=0)
    for came in range(last + 1):
        for k, side in enumerate(lists):
            while at[k] < len(side) and side[at[k]].after <= came:
                nxt[k] = side[at[k]].end
                at[k] += 1
        if abs(nxt[0] - nxt[1]) > lead:
            return tuple(side[at[k] - 1] if at[k] else None for k, side in enumerate(lists))  # type: ignore[return-value]
    return None


def _known(again: list[Sent], fresh: list[Sent]) -> list[Sent]:
    """Returns the retransmissions of data that the other side had sent by then: this side may have been behind."""
    first = {s.seq: s.after for s in fresh}
    return [s for s in again if first.get(s.seq, -1) < s.after]


def differing_arrivals(theirs: list[Sent], ours: list[Sent]) -> list[int]:
    """Arrivals at a receiver after which the acknowledgments are not the same: their numbers and SACK blocks."""
    both: list[dict[int, list[Any]]] = [defaultdict(list), defaultdict(list)]
    for side, sent in zip(both, (theirs, ours), strict=True):
        for s in sent:
            side[s.after].append((s.ack, s.sack))
    return [n for n in sorted(set(both[0]) | set(both[1])) if both[0][n] != both[1][n]]


def _repeats(theirs: list[Sent], ours: list[Sent], slack: int) -> tuple[Sent | None, Sent | None] | None:
    for a, b in zip_longest(theirs, ours):
        if a is None or b is None or (a.seq, a.end) != (b.seq, b.end) or abs(a.after - b.after) > slack:
            return a, b
    return None


# --- command ----------------------------------------------------------------------------------------------------------------------------


def report(found: Record) -> tuple[str, bool]:
    """Returns the agreement in words; true if everything agrees."""
    theirs, ours = replay(found, views=True)
    start = found.packets[0].ns

    def words(s: Sent | None) -> str:
        if s is None:
            return "nothing"
        text = f"after {s.after} arrivals, {(s.ns - start) / 1e6:.3f} ms: "
        if not found.sender:
            return text + f"ack {s.ack} " + " ".join(f"{a}:{b}" for a, b in s.sack)
        v = s.view
        if v is None:
            return text + f"{s.seq}:{s.end}"
        cwnd, flight, ssthresh = (v[name] / MSS for name in ("cwnd", "in_flight", "ssthresh"))
        return text + f"{s.seq}:{s.end}, cwnd {cwnd:.2f}, in flight {flight:.2f}, ssthresh {ssthresh:.4g}"

    end = "sender" if found.sender else "receiver"
    if found.sender:
        again, our_again = len(split(theirs)[1]), len(split(ours)[1])
        text = f"{found.name} {end}: {len(theirs)} / {len(ours)} segments, {again} / {our_again} again"
        different = first_difference(theirs, ours, SLACK, LEAD)
        if different is None:
            return f"{text}: the same", True
        return f"{text}\n  kernel {words(different[0])}\n  ours   {words(different[1])}", False
    arrivals = differing_arrivals(theirs, ours)
    text = f"{found.name} {end}: {len(theirs)} / {len(ours)} acknowledgments, other ones after {len(arrivals)} arrivals"
    if not arrivals:
        return text, True
    for name, side in (("kernel", theirs), ("ours  ", ours)):
        text += f"\n  {name} " + (words(next((s for s in side if s.after == arrivals[0]), None)))
    return text, False


def main(arguments: list[str] | None = None) -> int:
    """Exit code: 0 all decisions are the same or skipped, 1 some are not, 2 wrong use."""
    parser = argparse.ArgumentParser(
        prog="python -m validation.kernel.replay",
        description="Feeds what arrived at the kernel's TCP to ours, and compares what they send.",
    )
    parser.add_argument("cases", nargs="*", metavar="CASE", help="run these on the kernel now; without any the records are replayed")
    parser.add_argument("--seconds", type=float, default=5.0, metavar="S", help="length of a run (default 5)")
    parser.add_argument("--record", action="store_true", help="store what was recorded")
    options = parser.parse_args(arguments)
    same = True
    try:
        if not options.cases:
            found = [Record.load(path) for path in sorted(RECORDS.glob("*.xz"))]
        else:
            machine.check()
            found = [r for case in select(options.cases, False) for r in record(replace(case, seconds=options.seconds))]
    except machine.KernelMissing as missing:
        print(f"SKIPPED: {missing}")
        return 0
    except (ValueError, OSError, lzma.LZMAError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for one in found:
        text, equal = report(one)
        print(text, flush=True)
        # A receiver's acknowledgments also tell when its application read: that is shown, not judged.
        same &= equal or not one.sender
        if options.record:
            one.save(RECORDS / f"{one.name.replace('/', '_')}_{'sender' if one.sender else 'receiver'}.xz")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
