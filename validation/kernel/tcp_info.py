"""The kernel's `struct tcp_info` (include/uapi/linux/tcp.h), what `ss -ti` prints."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass

_WORDS = struct.Struct("=8B24I4Q")


@dataclass(frozen=True)
class TcpInfo:
    """The part of it that is compared: segments, microseconds, bytes."""

    ca_state: int
    cwnd: int
    ssthresh: int
    rtt_us: int
    mss: int
    retransmits: int
    bytes_acked: int
    pacing_rate: int
    """bytes a second; 2^64 - 1: none"""


def tcp_info(s: socket.socket) -> TcpInfo:
    """Returns TCP_INFO of a connected socket."""
    raw = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    values = _WORDS.unpack_from(raw)
    words, longs = values[8:32], values[32:]
    return TcpInfo(
        ca_state=values[1],
        mss=words[2],
        rtt_us=words[15],
        ssthresh=words[17],
        cwnd=words[18],
        retransmits=words[23],
        bytes_acked=longs[2],
        pacing_rate=longs[0],
    )
