"""ICMP messages that reach a connection while it opens (tcp_v4_err of Linux)."""

from __future__ import annotations

from .connection import Connection
from .model import Packet
from .send_path import EPOCH

ERRORS = {
    "host_unreachable": "EHOSTUNREACH",
    "net_unreachable": "ENETUNREACH",
    "port_unreachable": "ECONNREFUSED",
    "protocol_unreachable": "ENOPROTOOPT",
    "unreachable": "ENETUNREACH",
    "time_exceeded": "EHOSTUNREACH",
}
"""Error codes for the application (icmp_err_convert)."""
TOO_BIG = ("frag_needed", "packet_too_big")


def while_opening(c: Connection, now: int, packet: Packet) -> bool:
    """Applies a message to a connection that is opening; returns false if it is open or the message has no effect."""
    if packet.icmp is None or c.dead or c.established:
        return False
    view, kind = c.view(), packet.icmp[0].split()[-1]
    if not 0 <= c.near(packet.seq, view["una"]) <= view["nxt"]:
        return True  # The segment is not in flight.
    if kind in TOO_BIG:
        mtu = packet.icmp[2]
        if not c.passive and mtu:
            c.options["mtu"] = min(c.options["mtu"], mtu)
            c.take(now, c.core.shorten_syn(now + EPOCH))
        return True
    if kind not in ERRORS:
        return False
    # A connection accepted before the end of the handshake stays in the queue with the error; others are removed.
    c.fail(ERRORS[kind])
    if c.passive and not c.was_established and c.listener is not None:
        c.error = None
        c.listener.queue.remove(c)
    return True
