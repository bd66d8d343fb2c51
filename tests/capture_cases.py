"""Captures of one conversation on links and in tunnels of every kind, written byte by byte from their standards."""

from __future__ import annotations

import struct
from collections.abc import Callable

A, B = bytes([10, 1, 1, 1]), bytes([10, 1, 1, 2])
A6, B6 = bytes.fromhex("fd00" + 27 * "0" + "1"), bytes.fromhex("fd00" + 27 * "0" + "2")
MAC_A, MAC_B, AP = bytes.fromhex("020000000001"), bytes.fromhex("020000000002"), bytes.fromhex("0200000000aa")
SYN, FIN, ACK, PSH = 2, 1, 16, 8


def ip4(protocol: int, payload: bytes, way: bool = False, place: int = 0, number: int = 1) -> bytes:
    """IPv4 (RFC 791) without options; its checksum is right, as some readers look at it."""
    ends = B + A if way else A + B
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), number, place, 64, protocol, 0) + ends
    total = sum(struct.unpack("!10H", head))
    total = (total & 0xFFFF) + (total >> 16)
    total = (total & 0xFFFF) + (total >> 16)
    return head[:10] + struct.pack("!H", 0xFFFF - total) + head[12:] + payload


def ip6(protocol: int, payload: bytes, way: bool = False) -> bytes:
    ends = B6 + A6 if way else A6 + B6
    return struct.pack("!IHBB", 6 << 28, len(payload), protocol, 64) + ends + payload


def tcp(way: bool, seq: int, ack: int, flags: int, data: int = 0) -> bytes:
    ports = (9, 4000) if way else (4000, 9)
    return struct.pack("!HHIIBBHHH", *ports, seq, ack, 5 << 4, flags, 8192, 0, 0) + b"x" * data


def udp(data: bytes, to: int = 9, way: bool = False) -> bytes:
    return struct.pack("!HHHH", 5000, to, 8 + len(data), 0) + data


TALK = [
    (False, 100, 0, SYN, 0),
    (True, 700, 101, SYN | ACK, 0),
    (False, 101, 701, ACK, 0),
    (False, 101, 701, ACK | PSH, 1000),
    (False, 1101, 701, ACK | PSH, 600),
    (True, 701, 1101, ACK, 0),
    (False, 1101, 701, ACK | PSH, 600),
    (True, 701, 1701, ACK, 0),
    (False, 1701, 701, ACK | FIN, 0),
    (True, 701, 1702, ACK | FIN, 0),
    (False, 1702, 702, ACK, 0),
]
"""Direction, numbers, flags and data: 1600 bytes, of which 600 are sent again."""


def four(segment: tuple[bool, int, int, int, int]) -> bytes:
    return ip4(6, tcp(*segment), segment[0])


def six(segment: tuple[bool, int, int, int, int]) -> bytes:
    return ip6(6, tcp(*segment), segment[0])


def ethernet(kind: int, inner: bytes) -> bytes:
    return MAC_B + MAC_A + struct.pack("!H", kind) + inner


SNAP = bytes.fromhex("aaaa03000000")


def llc(inner: bytes, kind: int = 0x0800) -> bytes:
    return SNAP + struct.pack("!H", kind) + inner


def wlan(
    body: bytes,
    number: int,
    *,
    ds: int = 1,
    flags: int = 0,
    qos: int | None = None,
    fcs: bool = False,
    htc: bool = False,
    mesh: bytes = b"",
    pad: bool = False,
    way: bool = False,
) -> bytes:
    """A data frame (IEEE Std 802.11-2020, clause 9.3.2.1)."""
    kind = 0x08 if qos is None else 0x88
    ends = (MAC_A, MAC_B) if way else (MAC_B, MAC_A)
    head = bytes([kind, ds | flags | (0x80 if htc else 0)]) + b"\0\0" + ends[0] + ends[1] + AP + struct.pack("<H", number << 4)
    if ds == 3:
        head += MAC_A
    if qos is not None:
        head += struct.pack("<H", qos)
    if htc:
        head += bytes(4)
    if pad:
        head += bytes(-len(head) % 4)
    return head + mesh + body + (b"\xde\xad\xbe\xef" if fcs else b"")


def amsdu(bodies: list[bytes]) -> bytes:
    parts = [MAC_B + MAC_A + struct.pack("!H", len(b)) + b for b in bodies]
    return b"".join(p + bytes(-len(p) % 4) for p in parts[:-1]) + parts[-1]


def radiotap(frame: bytes, flags: int = 0) -> bytes:
    """TSFT, flags, rate (radiotap.org)."""
    return struct.pack("<BBHIQBB", 0, 0, 18, 7, 5, flags, 12) + frame


def prism(frame: bytes) -> bytes:
    return struct.pack("<II", 0x44, 144) + bytes(136) + frame


def avs(frame: bytes) -> bytes:
    return struct.pack("!II", 0x80211001, 64) + bytes(56) + frame


def ppi(frame: bytes) -> bytes:
    return struct.pack("<BBHI", 0, 0, 8, 105) + frame


def each(wrap: Callable[[bytes], bytes], inner: Callable[..., bytes] = four) -> list[bytes]:
    return [wrap(inner(s)) for s in TALK]


def stations(wrap: Callable[[bytes], bytes] = lambda f: f, **options: object) -> list[bytes]:
    return [wrap(wlan(llc(four(s)), i, way=s[0], **options)) for i, s in enumerate(TALK)]  # type: ignore[arg-type]


def with_retries() -> list[bytes]:
    """Each frame twice: the second has the bit Retry and the same number."""
    return [wlan(llc(four(s)), i, way=s[0], flags=f, qos=0) for i, s in enumerate(TALK) for f in (0, 8)]


def fragments() -> list[bytes]:
    """Datagrams of 3000 bytes in three fragments of IPv4."""
    found = []
    for i in range(4):
        whole = udp(bytes(2992))
        for at in (0, 1480, 2960):
            part = whole[at : at + 1480]
            more = 0x2000 if at + 1480 < len(whole) else 0
            found.append(ip4(17, part, place=more | at // 8, number=50 + i))
    return found


def six_with(*headers: tuple[int, bytes]) -> list[bytes]:
    """IPv6 with extension headers: number of each, and its bytes after the next header's number."""
    found = []
    for s in TALK:
        inner, after = tcp(*s), 6
        for kind, body in reversed(headers):
            inner, after = bytes([after]) + body + inner, kind
        found.append(ip6(after, inner, s[0]))
    return found


def gre(flags: int, kind: int, inner: bytes, fields: int = 0) -> bytes:
    return struct.pack("!HH", flags, kind) + bytes(range(1, 1 + 4 * fields)) + inner


def label(inner: bytes, *labels: int) -> bytes:
    stack = b"".join(struct.pack("!I", n << 12 | (i == len(labels) - 1) << 8 | 64) for i, n in enumerate(labels))
    return stack + inner


ETH4, ETH6 = 0x0800, 0x86DD
OPTIONS = (0, bytes([0, 1, 4, 0, 0, 0, 0]))
DESTINATION = (60, bytes([0, 1, 4, 0, 0, 0, 0]))
ROUTING = (43, bytes([2, 0, 0, 0, 0, 0, 0]) + bytes(16))
WHOLE = (44, bytes([0, 0, 0, 0, 0, 0, 7]))
AUTHENTICATION = (51, bytes([4, 0, 0, 0, 0, 1, 0]) + bytes(16))

CASES: dict[str, tuple[int, list[bytes]]] = {
    "ethernet": (1, each(lambda p: ethernet(ETH4, p))),
    "ethernet6": (1, each(lambda p: ethernet(ETH6, p), six)),
    "ethernet padded": (1, each(lambda p: ethernet(ETH4, p).ljust(60, b"\0"))),
    "llc": (1, each(lambda p: ethernet(len(llc(p)), llc(p)) if len(p) < 1400 else ethernet(ETH4, p))),
    "vlan": (1, each(lambda p: ethernet(0x8100, struct.pack("!HH", 7, ETH4) + p))),
    "qinq": (1, each(lambda p: ethernet(0x88A8, struct.pack("!HHHH", 7, 0x8100, 8, ETH4) + p))),
    "pppoe": (1, each(lambda p: ethernet(0x8864, struct.pack("!BBHHH", 0x11, 0, 5, len(p) + 2, 0x21) + p))),
    "mpls": (1, each(lambda p: ethernet(0x8847, label(p, 30, 31)))),
    "ppp": (9, each(lambda p: b"\x00\x21" + p)),
    "ppp framed": (9, each(lambda p: b"\xff\x03\x00\x21" + p)),
    "ppp6": (9, each(lambda p: b"\x00\x57" + p, six)),
    "ppp compressed": (9, each(lambda p: b"\x21" + p)),
    "ppp hdlc": (50, each(lambda p: b"\xff\x03\x00\x21" + p)),
    "ppp cisco": (50, each(lambda p: b"\x0f\x00\x08\x00" + p)),
    "ppp ether": (51, each(lambda p: struct.pack("!BBHHH", 0x11, 0, 5, len(p) + 2, 0x21) + p)),
    "ppp direction": (204, each(lambda p: b"\x01\xff\x03\x00\x21" + p)),
    "cisco": (104, each(lambda p: b"\x0f\x00\x08\x00" + p)),
    "raw": (101, each(lambda p: p)),
    "raw of bsd": (12, each(lambda p: p)),
    "ipv4": (228, each(lambda p: p)),
    "ipv6": (229, each(lambda p: p, six)),
    "null": (0, each(lambda p: struct.pack("<I", 2) + p)),
    "null6": (0, each(lambda p: struct.pack("<I", 30) + p, six)),
    "loop": (108, each(lambda p: struct.pack("!I", 2) + p)),
    "cooked": (113, each(lambda p: struct.pack("!HHH8sH", 0, 1, 6, MAC_A + b"\0\0", ETH4) + p)),
    "cooked vlan": (113, each(lambda p: struct.pack("!HHH8sHHH", 0, 1, 6, MAC_A + b"\0\0", 0x8100, 7, ETH4) + p)),
    "cooked llc": (113, each(lambda p: struct.pack("!HHH8sH", 0, 1, 6, MAC_A + b"\0\0", 4) + llc(p))),
    "cooked2": (276, each(lambda p: struct.pack("!HHIHBB8s", ETH4, 0, 2, 1, 0, 6, MAC_A + b"\0\0") + p)),
    "wlan": (105, stations()),
    "wlan fcs": (105, stations(fcs=True)),
    "wlan qos": (105, stations(qos=5)),
    "wlan from ap": (105, stations(ds=2, qos=0)),
    "wlan ad hoc": (105, stations(ds=0)),
    "wlan htc": (105, stations(qos=0, htc=True)),
    "wlan four addresses": (105, stations(ds=3, qos=0)),
    "wlan mesh": (105, stations(ds=3, qos=0x100, mesh=bytes([0, 31, 1, 0, 0, 0]))),
    "wlan mesh extended": (105, stations(ds=3, qos=0x100, mesh=bytes([2, 31, 1, 0, 0, 0]) + MAC_A + MAC_B)),
    "wlan radiotap": (127, stations(radiotap)),
    "wlan radiotap fcs": (127, stations(lambda f: radiotap(f, 0x10), fcs=True)),
    "wlan radiotap padded": (127, stations(lambda f: radiotap(f, 0x20), qos=0, pad=True)),
    "wlan prism": (119, stations(prism)),
    "wlan avs": (163, stations(avs)),
    "wlan ppi": (192, stations(ppi)),
    "wlan aggregates": (
        105,
        [wlan(amsdu([llc(four(s)) for s in part]), i, qos=0x80, way=part[0][0], fcs=True)
         for i, part in enumerate([[s] for s in TALK[:3]] + [TALK[3:5]] + [[s] for s in TALK[5:]])],
    ),
    "wlan retries": (105, with_retries()),
    "gre": (101, each(lambda p: ip4(47, gre(0, ETH4, p)))),
    "gre key": (101, each(lambda p: ip4(47, gre(0x2000, ETH4, p, 1)))),
    "gre all": (101, each(lambda p: ip4(47, gre(0xB000, ETH6, p, 3)), six)),
    "gre bridged": (101, each(lambda p: ip4(47, gre(0, 0x6558, ethernet(ETH4, p))))),
    "gre pptp": (101, each(lambda p: ip4(47, struct.pack("!HHHHII", 0x3081, 0x880B, len(p) + 4, 7, 1, 1) + b"\xff\x03\x00\x21" + p))),
    "ip in ip": (101, each(lambda p: ip4(4, p))),
    "6in4": (101, each(lambda p: ip4(41, p), six)),
    "4in6": (101, each(lambda p: ip6(4, p))),
    "vxlan": (101, each(lambda p: ip4(17, udp(bytes([8, 0, 0, 0, 0, 0, 5, 0]) + ethernet(ETH4, p), 4789)))),
    "geneve": (101, each(lambda p: ip4(17, udp(bytes([1, 0, 0x65, 0x58, 0, 0, 5, 0, 1, 2, 3, 0]) + ethernet(ETH4, p), 6081)))),
    "gtp": (101, each(lambda p: ip4(17, udp(struct.pack("!BBHI", 0x30, 255, len(p), 9) + p, 2152)))),
    "gtp session": (
        101,
        each(lambda p: ip4(17, udp(struct.pack("!BBHIHBBBBBB", 0x34, 255, len(p) + 8, 9, 0, 0, 0x85, 1, 0, 9, 0) + p, 2152))),
    ),
    "ah": (101, [ip4(51, bytes([6]) + AUTHENTICATION[1] + tcp(*s), s[0]) for s in TALK]),
    "extensions": (101, six_with(OPTIONS, ROUTING, DESTINATION)),
    "fragment header": (101, six_with(OPTIONS, WHOLE)),
    "ah6": (101, six_with(AUTHENTICATION)),
}  # fmt: skip


def pcap(link: int, frames: list[bytes], *, big: bool = False, nano: bool = False, snap: int = 65535, step: int = 10_000_000) -> bytes:
    """A file with a frame each `step` nanoseconds."""
    order = ">" if big else "<"
    out = [struct.pack(f"{order}IHHiIII", 0xA1B23C4D if nano else 0xA1B2C3D4, 2, 4, 0, 0, snap, link)]
    for i, frame in enumerate(frames):
        seconds, part = divmod(1_700_000_000 * 10**9 + i * step, 10**9)
        kept = frame[:snap]
        out.append(struct.pack(f"{order}IIII", seconds, part if nano else part // 1000, len(kept), len(frame)) + kept)
    return b"".join(out)


def block(order: str, kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    length = struct.pack(f"{order}I", len(body) + 12)
    return struct.pack(f"{order}I", kind) + length + body + length


def pcapng(frames: list[tuple[int, int | None, bytes]], links: list[tuple[int, int]], *, big: bool = False) -> bytes:
    """A file of several interfaces (link type, `if_tsresol`); a frame has an interface, ticks (none: a simple packet block) and bytes."""
    order = ">" if big else "<"
    out = [block(order, 0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1))]
    for link, resolution in links:
        options = struct.pack(f"{order}HHB3xHH", 9, 1, resolution, 0, 0)
        out.append(block(order, 1, struct.pack(f"{order}HHI", link, 0, 0) + options))
    for interface, ticks, frame in frames:
        if ticks is None:
            out.append(block(order, 3, struct.pack(f"{order}I", len(frame)) + frame))
        else:
            head = struct.pack(f"{order}IIIII", interface, ticks >> 32, ticks & 0xFFFFFFFF, len(frame), len(frame))
            out.append(block(order, 6, head + frame))
    return b"".join(out)
