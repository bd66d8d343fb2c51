"""Fast Open cookies of the host under test: those it issues as a server, and the memory of the peer as a client.

The code follows tcp_fastopen.c and tcp_metrics.c of Linux 6.18: a cookie is SipHash-2-4 (Aumasson and Bernstein 2012) of both addresses,
under the key of the host or the listener.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from ..errors import FairlaneError
from .settings import Settings

CLIENT, SERVER, CLIENT_NO_COOKIE = 0x1, 0x2, 0x4
SERVER_NO_COOKIE, EVERY_LISTENER = 0x200, 0x400
"""Bits of the setting tcp_fastopen."""
KEY = 16
"""Bytes of a key; an older second key may follow."""
MOST_OPTIONS = 40
"""Bytes reserved for options in a SYN with data (MAX_TCP_OPTION_SPACE)."""
ADDRESSES = {"ipv4": ("192.168.0.1", "192.0.2.1"), "ipv6": ("fd3d:0a0b:17d6::1", "fd3d:fa7b:d17d::1")}
"""Default addresses of the host and the peer: those of the kernel's runner, which cookies in published scripts depend on."""
_WORDS = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
_ALL = (1 << 64) - 1

Option = tuple[bytes, bool]
"""A cookie, empty in a request, and the form of its option."""


def siphash(key: bytes, data: bytes) -> int:
    """Returns SipHash-2-4."""
    halves = [int.from_bytes(key[i : i + 8], "little") for i in (0, 8)] * 2
    a, b, c, d = (k ^ w for k, w in zip(halves, _WORDS, strict=True))

    def turn(x: int, by: int) -> int:
        return (x << by | x >> (64 - by)) & _ALL

    def rounds(n: int) -> None:
        nonlocal a, b, c, d
        for _ in range(n):
            a, c = (a + b) & _ALL, (c + d) & _ALL
            b, d = turn(b, 13) ^ a, turn(d, 16) ^ c
            a = turn(a, 32)
            a, c = (a + d) & _ALL, (c + b) & _ALL
            d, b = turn(d, 21) ^ a, turn(b, 17) ^ c
            c = turn(c, 32)

    padded = data + bytes(-(len(data) + 1) % 8) + bytes([len(data) & 0xFF])
    for i in range(0, len(padded), 8):
        word = int.from_bytes(padded[i : i + 8], "little")
        d ^= word
        rounds(2)
        a ^= word
    c ^= 0xFF
    rounds(4)
    return a ^ b ^ c ^ d


def key_of(text: str) -> bytes:
    """Parses tcp_fastopen_key: four 32-bit words, or two keys separated by a comma."""
    first = text.split(",")[0]
    words = re.fullmatch(r"([0-9a-fA-F]{1,8})-([0-9a-fA-F]{1,8})-([0-9a-fA-F]{1,8})-([0-9a-fA-F]{1,8})", first.strip())
    if words is None:
        raise FairlaneError(
            f"the setting tcp_fastopen_key is four words in hexadecimal such as a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4, not {text!r}"
        )
    return b"".join(int(w, 16).to_bytes(4, "little") for w in words.groups())


def option_of(options: tuple[tuple[Any, ...], ...] | None) -> Option | None:
    """Returns the last valid Fast Open option of a SYN; None if its cookie is too short, too long or of odd length."""
    found: Option | None = None
    for o in options or ():
        if o[0] in ("FO", "FOEXP"):
            cookie = bytes.fromhex(o[1])
            if not cookie or (4 <= len(cookie) <= 16 and len(cookie) % 2 == 0):
                found = (cookie, o[0] == "FOEXP")
    return found


def written(option: Option) -> list[tuple[Any, ...]]:
    """Returns the option in the notation of a script, padded as in Linux."""
    cookie, experimental = option
    size = len(cookie) + (4 if experimental else 2)
    return [("FOEXP" if experimental else "FO", cookie.hex()), *[("nop",)] * (-size % 4)]


@dataclass
class Request:
    """The Fast Open request of a client's SYN."""

    option: Option | None
    """Cookie option; None if no cookie is needed."""
    limit: int
    """Bytes of data in the SYN."""


class Cookies:
    """The Fast Open state of the host."""

    def __init__(self, settings: Settings, addresses: tuple[str, str]) -> None:
        self.settings, self.addresses = settings, addresses
        self.flush()

    def flush(self) -> None:
        """Forgets the peer."""
        self.forgotten = self.settings.flushes
        self.mss: int | None = None
        self.cookie: Option | None = None
        self.try_experimental = 0

    def bits(self) -> int:
        """Returns the setting tcp_fastopen."""
        return self.settings.number("tcp_fastopen")

    def valid(self, key: Any) -> bytes:
        """Returns the cookie required of the peer; `key` is that of the listener."""
        local, remote = (ip_address(a).packed for a in self.addresses)
        return siphash(key or key_of(self.settings.values["tcp_fastopen_key"]), remote + local).to_bytes(8, "little")

    # Client.

    def request(self, options: dict[str, Any], largest: int) -> Request:
        """Returns the request of a SYN; `largest` is the payload of a segment without options."""
        if self.forgotten != self.settings.flushes:
            self.flush()
        mss = min(largest, self.mss or largest)
        limit = max(0, mss - MOST_OPTIONS)
        if self.bits() & CLIENT_NO_COOKIE or options.get("TCP_FASTOPEN_NO_COOKIE"):
            return Request(None, limit)
        if self.cookie is None:
            return Request((b"", self.try_experimental == 1), 0)
        return Request(self.cookie, limit)

    def learn(self, asked: Request, syns: int, options: tuple[tuple[Any, ...], ...] | None, mss: int) -> None:
        """Processes the reply to a SYN (tcp_rcv_fastopen_synack)."""
        cookie = option_of(options)
        self.mss = mss
        if asked.option is None:
            return  # A cookie without a request is not stored.
        if cookie is not None and cookie[0]:
            self.cookie = cookie
        elif cookie is None and syns == 1 and not asked.option[0] and self.cookie is None:
            # The other form is tried once.
            self.try_experimental = max(self.try_experimental, 2 if asked.option[1] else 1)
