"""SACK blocks and the advertised window, which event traces lack, from a packet capture of fairlane."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_PACKET = 6
_ORDER = 0x1A2B3C4D
_HEADER = 0x0A0D0D0A
_SPEND = 1 << 28
"""Most bytes of a capture that are read for a plot."""
_SENDER_PORT, _SENDER_BITS, _RECEIVER_PORT, _RECEIVER_BITS = 49_152, 14, 35_000, 10
"""First ports of the flows; see docs/background/captures.md."""
_SCALE, _SACK = 3, 5
_SYN = 0x02


@dataclass
class Answers:
    """Acknowledgments of one flow, with sequence numbers relative to the first one."""

    times: list[float] = field(default_factory=list)
    limits: list[int] = field(default_factory=list)
    """Right edge of the window: acknowledgment plus window."""
    sacks: list[tuple[float, int, int]] = field(default_factory=list)
    """Time, start and end of each SACK block."""


def ports(flow: int) -> tuple[int, int]:
    """Returns the ports of sender and receiver of the flow with this number."""
    return _SENDER_PORT + (flow & ((1 << _SENDER_BITS) - 1)), _RECEIVER_PORT + (flow >> _SENDER_BITS & ((1 << _RECEIVER_BITS) - 1))


def answers(path: Path, flow: int, start: float | None, end: float | None) -> Answers | None:
    """Returns the acknowledgments of a flow in a capture; None if its handshake is missing."""
    sender, receiver = ports(flow)
    out = Answers()
    first: int | None = None
    shift = 0
    last = 0
    for time, tcp in _segments(path):
        here = struct.unpack_from(">HHIIBBH", tcp)
        if here[:2] == (sender, receiver):
            if first is None and here[5] & _SYN:
                first = here[2]
            continue
        if here[:2] != (receiver, sender):
            continue
        options = list(_options(tcp[20 : (here[4] >> 4) * 4]))
        if here[5] & _SYN:
            shift = next((v[0] for k, v in options if k == _SCALE and v), 0)
        if first is None:
            return None
        if (start is not None and time < start) or (end is not None and time > end):
            continue
        ack = last = _near(here[3] - first, last)
        out.times.append(time)
        out.limits.append(ack + (here[6] << (0 if here[5] & _SYN else shift)))
        for kind, value in options:
            if kind == _SACK:
                for i in range(0, len(value) - 7, 8):
                    a, b = struct.unpack_from(">II", value, i)
                    out.sacks.append((time, _near(a - first, ack), _near(b - first, ack)))
    return out if first is not None else None


def _near(number: int, known: int) -> int:
    """Returns the full sequence number nearest to a known one that has the given 32 low bits."""
    return known + ((number - known + (1 << 31)) % (1 << 32)) - (1 << 31)


def _segments(path: Path) -> Iterator[tuple[float, bytes]]:
    """Yields time and TCP header of each sent packet, on interface 0 of the capture."""
    with path.open("rb") as file:
        data = file.read(_SPEND)
    if len(data) < 12 or struct.unpack_from("<I", data)[0] != _HEADER or struct.unpack_from("<I", data, 8)[0] != _ORDER:
        return
    at = 0
    while at + 12 <= len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if length < 12 or at + length > len(data):
            return
        if kind == _PACKET:
            interface, high, low, kept = struct.unpack_from("<IIII", data, at + 8)
            frame = data[at + 28 : at + 28 + kept]
            tcp = _tcp(frame) if interface == 0 else b""
            if len(tcp) >= 20:
                yield ((high << 32) | low) / 1e9, tcp
        at += length


def _tcp(frame: bytes) -> bytes:
    """Returns the TCP segment of an Ethernet frame; empty without one."""
    kind = frame[12:14]
    if kind == b"\x08\x00" and len(frame) > 34 and frame[23] == 6:
        return frame[14 + (frame[14] & 15) * 4 :]
    if kind == b"\x86\xdd" and len(frame) > 54 and frame[20] == 6:
        return frame[54:]
    return b""


def _options(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yields kinds and values of the TCP options (RFC 9293, section 3.1)."""
    at = 0
    while at < len(data) and data[at] != 0:
        if data[at] == 1:
            at += 1
            continue
        if at + 1 >= len(data) or data[at + 1] < 2:
            return
        yield data[at], data[at + 2 : at + data[at + 1]]
        at += data[at + 1]
