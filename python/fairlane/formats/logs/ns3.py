"""Import of ns-3's ASCII traces with paths of devices, as `EnableAsciiAll(stream)` writes them.

Source: ns-3.41, src/network/helper/trace-helper.cc (the lines), and `Print` of the headers of IPv4, TCP and UDP. A line is `+` (enqueued),
`-` (dequeued), `d` (dropped by the queue) or `r` (received by a device), the time in seconds, the path of the device, and the headers. A
packet is known by addresses, protocol and identification of IPv4 (RFC 6864); lengths are those of IPv4, without the header of the link.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ...runs.trace import scan
from ..event_metrics import Flow, Recorded, step_of, tables
from ..imported import ImportedRun
from ..inputs import fault, quoted, text_lines
from ..measured import PS

if TYPE_CHECKING:
    pass

MOST_LINES = 5_000_000
_LINE = re.compile(r"([-+rd]) (\d[\d.e+-]*) /NodeList/(\d+)/DeviceList/(\d+)/")
_BARE = re.compile(r"[-+rdt] \d[\d.e+-]* ns3::")
_IP = re.compile(r"ns3::Ipv4Header \(.*?(?:ECN (\S+) )?ttl \d+ id (\d+) protocol (\d+) .*?length: (\d+) ([\d.]+) > ([\d.]+)\)")
_UDP = re.compile(r"ns3::UdpHeader \(length: (\d+) (\d+) > (\d+)\)")
_TCP = re.compile(r"ns3::TcpHeader \((\d+) > (\d+) (?:\[([A-Z|]*)\] )?Seq=(\d+) Ack=(\d+)")
_PAYLOAD = re.compile(r"Payload (?:\(size=(\d+)\)|Fragment \[(\d+):(\d+)\])")
_EVENTS = {"+": "enqueue", "-": "dequeue", "r": "arrive", "d": "drop"}
_KINDS = {
    "time_ps": "Int64", "event": "String", "flow": "String", "link": "String", "packet": "Int64", "back": "Boolean", "length": "Int32",
    "ecn": "String", "queue_packets": "Int32", "queue_bytes": "Int64", "reason": "String", "seq": "Int64", "ack": "Int64",
    "payload": "Int32", "flags": "String", "cwnd": "Int64", "ssthresh": "Int64", "state": "String", "gauge": "String", "value": "Float64",
}  # fmt: skip


@dataclass(slots=True)
class _Line:
    """One line about a TCP or UDP packet."""

    kind: str
    time: int
    device: tuple[int, int]
    ends: tuple[str, str, str, str, str]
    """Source and its port, destination and its port, protocol."""
    id: int
    length: int
    payload: int
    ecn: str
    seq: int | None = None
    ack: int | None = None
    flags: str = ""
    packet: int = 0
    last: bool = False
    """True if it is the last line of its packet."""


def read(file: Path, folder: Path, step: int | None) -> ImportedRun:
    """Reads an ASCII trace of ns-3; the event trace goes to `folder`."""
    import polars as pl

    remarks: list[str] = []
    lines = list(_lines(file, remarks))
    if not lines:
        raise fault(file, "it has no line of a TCP or UDP packet over IPv4")
    _number(lines)
    names = _flows(lines)
    rows, links, nodes = _events(lines, names)
    place = folder / "seed=0"
    place.mkdir(parents=True)
    frame = pl.DataFrame(rows, schema={name: getattr(pl, kind)() for name, kind in _KINDS.items()}, orient="row")
    frame.write_parquet(place / "000000.parquet")
    flows = [
        Flow(name, nodes.get(ends[0], ends[0]), nodes.get(ends[2], ends[2]), ends[4])
        for name, ends in {name: ends for ends, (name, back) in names.items() if not back}.items()
    ]
    span = max(lines[-1].time, 1_000_000)
    chosen = step_of(span, max(len(flows), len(links)), step)
    found = tables(Recorded(scan(folder), flows, links, span), chosen)
    packets = 1 + max(line.packet for line in lines)
    return ImportedRun("", flows, links, found, span, chosen, frame.height, remarks, folder, packets=packets)


def _lines(file: Path, remarks: list[str]) -> Iterator[_Line]:
    others = last = 0
    cut: tuple[int, str] | None = None
    for number, text in text_lines(file):
        if number > MOST_LINES:
            raise fault(file, f"it has more than {MOST_LINES} lines")
        if cut is not None:
            raise fault(file, f"this is no line of an ASCII trace: {quoted(cut[1])}", cut[0])
        if not text:
            continue
        head = _LINE.match(text)
        if head is None:
            if _BARE.match(text):
                raise fault(file, "its lines do not name the device: write it with EnableAsciiAll and one stream", number)
            cut = (number, text)
            continue
        found = _packet(text, head)
        if found is None:
            others += 1
        elif found.time < last:
            raise fault(file, "its times go back", number)
        else:
            last = found.time
            yield found
    if cut is not None:
        remarks.append(f"the last line ({cut[0]}) is incomplete and was skipped")
    if others:
        remarks.append(f"{others} lines are not about TCP or UDP packets over IPv4 and were skipped")


def _packet(text: str, head: re.Match[str]) -> _Line | None:
    ip = _IP.search(text, head.end())
    try:
        time = round(float(head[2]) * PS)
    except (ValueError, OverflowError):
        return None
    if ip is None or time > 1 << 62 or int(ip[4]) > 1 << 20:
        return None
    tcp, udp = _TCP.search(text, ip.end()), _UDP.search(text, ip.end())
    data = _PAYLOAD.search(text, ip.end())
    size = 0 if data is None else int(data[1]) if data[1] else max(int(data[3]) - int(data[2]), 0)
    device = (int(head[3]), int(head[4]))
    ecn = {"CE": "CE", "ECT_0": "ECT(0)", "ECT0": "ECT(0)", "ECT_1": "ECT(1)", "ECT1": "ECT(1)"}.get((ip[1] or "").upper(), "Not-ECT")
    common = (head[1], time, device)
    if tcp is not None and ip[3] == "6":
        flags = "".join(f[0] for f in (tcp[3] or "").split("|") if f)
        ends = (ip[5], tcp[1], ip[6], tcp[2], "tcp")
        if max(int(tcp[4]), int(tcp[5])) >= 1 << 62:
            return None
        return _Line(*common, ends, int(ip[2]), int(ip[4]), min(size, int(ip[4])), ecn, int(tcp[4]), int(tcp[5]), flags)
    if udp is not None and ip[3] == "17":
        return _Line(*common, (ip[5], udp[2], ip[6], udp[3], "udp"), int(ip[2]), int(ip[4]), max(int(ip[4]) - 28, 0), ecn)
    return None


def _number(lines: list[_Line]) -> None:
    """Numbers the packets: an identification comes again after 65,536 packets, then at a device that had it."""
    now: dict[tuple[object, ...], tuple[int, set[tuple[int, int]]]] = {}
    latest: dict[int, _Line] = {}
    made = 0
    for line in lines:
        key = (line.ends[0], line.ends[2], line.ends[4], line.id)
        known = now.get(key)
        if known is None or (line.kind in "+d" and line.device in known[1]):
            held = known is not None and line.kind == "d" and latest[known[0]].kind == "+"
            if not held or known is None:
                known = now[key] = (made, set())
                made += 1
        if line.kind in "+d":
            known[1].add(line.device)
        line.packet = known[0]
        latest[line.packet] = line
    for line in latest.values():
        line.last = True


Names = dict[tuple[str, str, str, str, str], tuple[str, bool]]


def _flows(lines: list[_Line]) -> Names:
    """Returns the name of each pair of ends, and whether it is the direction with less data."""
    data: dict[tuple[str, str, str, str, str], int] = {}
    for line in lines:
        data[line.ends] = data.get(line.ends, 0) + line.payload
    out: Names = {}
    for ends in data:
        opposite = (*ends[2:4], *ends[:2], ends[4])
        if ends in out:
            continue
        back = data.get(opposite, -1) > data[ends]
        own = opposite if back else ends
        name = f"{own[0]}:{own[1]}-{own[2]}:{own[3]}"
        out[ends] = (name, back)
        out[opposite] = (name, not back)
    return out


@dataclass
class _State:
    """State after the events so far."""

    queued: dict[tuple[int, int], int] = field(default_factory=dict)
    at: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Device that sent a packet last."""
    waits: set[tuple[int, tuple[int, int]]] = field(default_factory=set)
    begun: set[int] = field(default_factory=set)
    highest: dict[tuple[str, bool], int] = field(default_factory=dict)
    unacked: dict[tuple[str, bool, int], int | None] = field(default_factory=dict)
    """Time of sending of the segment that ends at a number; None after a retransmission."""


def _events(lines: list[_Line], names: Names) -> tuple[list[tuple[object, ...]], list[tuple[str, str, str]], dict[str, str]]:
    """Returns the rows of the event trace, the links, and the node of each address."""
    nodes: dict[str, int] = {}
    seen: set[int] = set()
    for line in lines:
        if line.kind in "+d" and line.packet not in seen:
            nodes.setdefault(line.ends[0], line.device[0])
        seen.add(line.packet)
    peers: dict[tuple[int, int], int] = {}
    rows: list[tuple[object, ...]] = []
    s = _State()
    for line in lines:
        name, back = names[line.ends]
        kind = line.kind
        if kind in "+d" and line.packet not in s.begun:
            s.begun.add(line.packet)
            rows.append(_row(line, _sent(line, name, back, s), name, back))
        device = line.device
        if kind == "r":
            device = s.at.get(line.packet, device)
            peers.setdefault(device, line.device[0])
        held = (line.packet, device) in s.waits
        if kind == "+":
            s.waits.add((line.packet, device))
            s.queued[device] = s.queued.get(device, 0) + 1
        elif kind in "-d" and held:
            s.waits.discard((line.packet, device))
            s.queued[device] -= 1
        if kind == "-":
            s.at[line.packet] = device
        length = s.queued.get(device, 0) if kind != "r" else None
        rows.append(_row(line, _EVENTS[kind], name, back, link=_link(device), queue=length))
        if kind == "r" and line.last:
            nodes.setdefault(line.ends[2], line.device[0])
        if kind == "r" and line.device[0] == nodes.get(line.ends[2]):
            rows.append(_row(line, "receive", name, back))
            rows += _trip(line, name, back, s)
    links = [(_link(d), f"n{d[0]}", f"n{to}") for d, to in sorted(peers.items())]
    known = {link for link, *_ in links}
    links += [(_link(d), f"n{d[0]}", "?") for d in sorted(s.queued) if _link(d) not in known]
    return rows, links, {address: f"n{node}" for address, node in nodes.items()}


def _link(device: tuple[int, int]) -> str:
    return f"n{device[0]}d{device[1]}"


def _sent(line: _Line, name: str, back: bool, s: _State) -> str:
    """Returns whether a packet is sent for the first time."""
    if line.seq is None or not line.payload:
        return "send"
    end, key = line.seq + line.payload, (name, back)
    again = end <= s.highest.get(key, -1)
    s.highest[key] = max(end, s.highest.get(key, -1))
    s.unacked[(name, back, end)] = None if again or (name, back, end) in s.unacked else line.time
    return "retransmit" if again else "send"


def _trip(line: _Line, name: str, back: bool, s: _State) -> list[tuple[object, ...]]:
    """Returns the round-trip time that an acknowledgment measures."""
    began = s.unacked.pop((name, not back, line.ack), None) if line.ack is not None else None
    if began is None or not back:
        return []
    row = dict.fromkeys(_KINDS) | {"time_ps": line.time, "event": "gauge", "flow": name, "gauge": "rtt", "value": (line.time - began) / PS}
    return [tuple(row.values())]


def _row(line: _Line, event: str, name: str, back: bool, *, link: str | None = None, queue: int | None = None) -> tuple[object, ...]:
    seq = line.packet if line.seq is None else line.seq
    return (
        line.time, event, name, link, line.packet + 1, back, line.length, line.ecn, queue, None, None, seq, line.ack, line.payload,
        line.flags or None, None, None, None, None, None,
    )  # fmt: skip
