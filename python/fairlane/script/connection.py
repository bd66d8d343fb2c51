"""One connection of the host under test: the TCP endpoint with the functions of a kernel around it.

The endpoint (`fairlane._core.TcpEndpoint`) sends, acknowledges and recovers. This module has the layers between it and the wire of a
script: handshake options, window scaling, PSH, Nagle's algorithm, resets, and the numbers of `struct tcp_info`.
"""

from __future__ import annotations

import json
from typing import Any

from .. import _core
from .cookies import option_of
from .handshake import Opening
from .model import Packet
from .send_path import EPOCH
from .settings import Settings

PS = 1_000_000
"""Picoseconds in a microsecond."""
FIN, SYN, RST, PSH, ACK, ECE, CWR, AE = 0x01, 0x02, 0x04, 0x08, 0x10, 0x40, 0x80, 0x100
NO_LIMIT = 0xFFFF_FFFF
DEFAULT_MSS = {"ipv4": 536, "ipv6": 1220}
"""Default MSS of a peer without the option (RFC 9293 section 3.7.1)."""
IP_TCP = {"ipv4": 40, "ipv6": 60}
TICK = 1_000_000_000
"""Tick of our timestamps in picoseconds."""
TIMESTAMPS = 12
"""Bytes of the timestamps option in each segment (RFC 7323 appendix A)."""
MOST_SCALE = 14
"""Largest window shift (RFC 7323 section 2.3)."""

_LETTERS = (("S", SYN), ("F", FIN), ("R", RST), ("P", PSH), ("E", ECE), ("W", CWR), ("A", AE), (".", ACK))
_CODEPOINTS = ("noecn", "ect1", "ect0", "ce")


class Connection(Opening):
    """One connection, opened by a SYN of the script (`passive`) or by connect()."""

    def __init__(self, settings: Settings, options: dict[str, Any], passive: bool, user: dict[str, Any]) -> None:
        self.settings, self.options, self.passive, self.user = settings, options, passive, user
        self.local_isn = 0
        self.remote_isn = 0
        self.peer_scale = 0
        self.our_scale = 0
        self.timestamps = self.sack = False
        self.scaling = False
        self.peer_mss = DEFAULT_MSS[self.options["ip_version"]]
        self.core: Any = None
        self.dead = False
        self.error: str | None = None
        self.read_bytes = 0
        self.receiving = True
        self.urgent: int | None = None
        """Offset of the urgent byte in the received data (RFC 9293 section 3.8.5)."""
        self.live_of: dict[int, int] = {}
        self.last_live = self.last_live_at = 0
        self.ts_base: tuple[int, int] | None = None
        self.out: list[Packet] = []
        self.was_established = False
        self.last = {"data_sent": 0, "ack_sent": 0, "data_recv": 0, "ack_recv": 0}
        self.count = {"segs_in": 0, "segs_out": 0, "data_segs_in": 0, "bytes_received": 0}
        super().__init__()

    # Parameters.

    def offered_mss(self) -> int:
        """The MSS in our SYN (RFC 9293 section 3.7.1)."""
        mss = self.options["mtu"] - IP_TCP[self.options["ip_version"]]
        user = self.options.get("TCP_MAXSEG")
        return int(min(mss, user) if user else mss)

    def buffer(self) -> int:
        """Returns the size of the receive buffer: half of the setting, as Linux reserves overhead."""
        size = self.options.get("SO_RCVBUF")
        return (2 * size if size else self.settings.memory("tcp_rmem")[1]) // 2

    def scale(self) -> int:
        """Returns the window shift for the largest buffer (RFC 7323 section 2.3)."""
        size = self.options.get("SO_RCVBUF")
        space = 2 * size if size else max(self.settings.memory("tcp_rmem")[2], 0)
        shift = 0
        while space > 65535 and shift < MOST_SCALE:
            space >>= 1
            shift += 1
        return shift

    def parameters(self) -> dict[str, Any]:
        """Returns the parameters of the endpoint after the handshake."""
        mss = min(self.peer_mss, self.offered_mss()) - (TIMESTAMPS if self.timestamps else 0)
        out: dict[str, Any] = {
            "cc": self.options.get("TCP_CONGESTION") or self.settings.values["tcp_congestion_control"],
        }
        out |= self.settings.parameters()
        out |= {
            "mss": f"{max(mss, 1)}B",
            "handshake": True,
            "handshake_ack": True,
            "fin": True,
            "timestamps": self.timestamps,
            "receive_window": f"{max(self.buffer(), 1)}B",
            # A buffer grows with reads; a script may read at any time.
            "receive_buffer": None,
            # Scripts send available data at once; their own send queue sets PSH.
            "tso": False,
            "window_scaling": True,
            "fast_open": self.fast_open,
        }
        ecn = self.settings.number("tcp_ecn")
        if out["cc"] != "dctcp":
            out["ecn"] = "accecn" if ecn in (3, 4, 5) else "classic" if ecn == 1 or (ecn == 2 and self.passive) else "off"
        if not self.sack:
            out |= {"recovery": "newreno", "rack": False, "tlp": False, "prr": "off", "dsack_undo": False}
        else:
            out["recovery"] = "sack"
        if not self.timestamps:
            out["eifel"] = False
        out |= self.user
        return out

    def start(self, now: int) -> None:
        """Sends the SYN, or starts to listen."""
        if not self.passive:
            self.fast_open = "off" if self.asked is None else "no_cookie" if self.asked.option is None else "cookie"
            number = self.settings.number
            self.timestamps, self.sack = number("tcp_timestamps") != 0, number("tcp_sack") != 0
            self.scaling = number("tcp_window_scaling") != 0
            self.our_scale = self.scale() if self.scaling else 0
            self.peer_mss = self.offered_mss()
        self.core = _core.TcpEndpoint(json.dumps(self.parameters()), self.passive)
        self.core.keep_open()
        self.ask()
        self.take(now, self.core.start(now + EPOCH))

    def negotiate(self, packet: Packet) -> None:
        """Processes the options of the peer's SYN."""
        options = {o[0]: o for o in packet.options or ()}
        number = self.settings.number
        self.peer_mss = max(options["mss"][1], 1) if "mss" in options else DEFAULT_MSS[self.options["ip_version"]]
        self.timestamps = "TS" in options and number("tcp_timestamps") != 0
        self.sack = "sackOK" in options and number("tcp_sack") != 0
        self.scaling = "wscale" in options and number("tcp_window_scaling") != 0
        self.our_scale = self.scale() if self.scaling else 0
        self.peer_scale = min(options["wscale"][1], MOST_SCALE) if self.scaling else 0
        self.accept_data(packet)
        self.core.renegotiate(json.dumps(self.parameters()))
        self.exchange(packet)

    def strange_answer(self, now: int, packet: Packet) -> bool:
        """Returns true for a reply that does not match our SYN (RFC 9293 section 3.10.7.3, RFC 7323 section 5.2): it is reset."""
        if packet.ack is None or not packet.has("."):
            return False
        view = self.view()
        ack = self.near(packet.ack - self.local_isn, view["una"])  # of a SYN
        echo = next((self.live(o[2]) for o in packet.options or () if o[0] == "TS" and o[2]), None)
        late = echo is not None and self.timestamps and not self.first_live <= echo <= (now + EPOCH) // TICK
        return not 1 <= ack <= view["nxt"] or late

    # The wire.

    def inject(self, now: int, packet: Packet) -> None:
        """Processes an arriving packet of the script."""
        if self.dead:
            self.refuse(now, packet)
            return
        self.count["segs_in"] += 1
        reset = packet.has("R")
        if not reset and not self.passive and packet.has("S") and not self.was_established and self.strange_answer(now, packet):
            self.refuse(now, packet)
            return
        both = packet.has("S") and not (packet.has(".") or self.passive)
        opens = both or (packet.has("S") and packet.has(".") != self.passive)
        opens = opens and not (reset or self.established or self.was_established)
        if opens:
            self.remote_isn = packet.seq
            if not (self.passive and self.was_started_by_syn):
                self.negotiate(packet)
            self.was_started_by_syn = True
            self.last = dict.fromkeys(self.last, now)
        flags = sum(bit for letter, bit in _LETTERS if packet.has(letter)) & ~PSH
        # Numbers in a SYN are those of the wire; in other segments they count from the SYN (run_packet.c of packetdrill).
        base = (self.local_isn, self.remote_isn) if packet.has("S") else (0, 0)
        ack = self.near(packet.ack - base[0], self.una) if packet.ack is not None else 0
        expected = self.rcv_nxt
        seq = self.near(packet.seq - base[1], expected)
        # Data before the first byte is older than everything else.
        length = packet.length if seq >= 0 else max(packet.length + seq, 0)
        seq, ack = max(seq, 0), max(ack, 0)
        win = packet.win if packet.win is not None else 0
        window = win if packet.has("S") else win << self.peer_scale
        if not reset:
            self.peer_win = window
            self.greatest_win = max(self.greatest_win, window)
        sack: list[tuple[int, int]] = []
        stamps = None
        for option in packet.options or ():
            if option[0] == "sack" and self.sack:
                sack = [(self.near(a, ack), self.near(b, ack)) for a, b in option[1:]]
            elif option[0] == "TS" and self.timestamps:
                stamps = (option[1] & 0xFFFFFFFF, self.live(option[2]))
        if packet.length and not reset:
            self.last["data_recv"] = now
            self.count["data_segs_in"] += 1
            if self.orphan and self.established:
                self.reset(now, seq=ack)
                return
        if packet.has("U") and packet.urg:
            self.urgent = max(seq - 1 + packet.urg - 1, self.urgent or 0)
        if packet.has("."):
            self.last["ack_recv"] = now
        sack = [(a, b) for a, b in sack if 0 <= a < b][: 3 if stamps else 4]
        ecn = _CODEPOINTS.index(packet.ecn) if packet.ecn in _CODEPOINTS else 0
        wire = (seq, ack, length, flags, min(window, NO_LIMIT - 1), sack, stamps, ecn, False, 0, option_of(packet.options))
        marked = packet.has("E") and not packet.has("S") and self.established
        before = self.delivered(self.view()) if marked else 0
        self.note_opening()
        wires = self.core.receive(now + EPOCH, wire)
        if marked:
            # Linux counts all data acknowledged with ECE.
            self.delivered_ce += self.delivered(self.view()) - before
        self.take(now, wires)
        if reset:
            self.note_end()
        self.heard(now)
        self.note_closing(now)

    def measure(self, length: int, segment: int) -> None:
        """Updates the largest received segment (tcp_measure_rcv_mss); `segment` is the size that a longer packet is split into."""
        size = min(segment, length) if segment else length
        self.rcv_mss = max(self.rcv_mss, min(size, self.offered_mss()))

    rcv_mss = DEFAULT_MSS["ipv4"]

    def note_closing(self, now: int) -> None:
        """Ends the connection after both FINs: the end that closed last removes it, the other one waits (RFC 9293 section 3.6)."""
        view = self.view()
        if view["peer_closed"] and self.peer_closed_first is None:
            self.peer_closed_first = not view["fin_sent"]
        if self.closed and view["peer_closed"] and view["fin_sent"] and view["una"] >= view["nxt"]:
            if self.peer_closed_first:
                self.dead = True
            elif self.waits_since is None:
                self.waits_since, self.waiting_stamp = now, view["ts_recent"] if self.timestamps else None

    peer_closed_first: bool | None = None
    waits_since: int | None = None
    """Start of TIME-WAIT."""
    waiting_stamp: int | None = None
    echo: int = 0
    """Timestamp that our SYN echoes, from an earlier connection between the same ports."""
    port: int = 0

    was_started_by_syn = False
    syns = 0
    delivered_ce = 0

    @property
    def syns_again(self) -> int:
        """Retransmissions of our SYN or SYN-ACK."""
        return max(0, self.syns - 1)

    def note_end(self) -> None:
        """Processes a reset; returns true if it ended the connection."""
        view = self.view()
        if view["ended"] == "refused":
            self.fail("ECONNREFUSED")
        elif view["ended"] == "reset":
            self.fail("EPIPE" if view["peer_closed"] else "ECONNRESET")
        elif view["state"] == "LISTEN" and self.was_started_by_syn:
            self.dead = True

    def fail(self, error: str) -> None:
        """Removes the connection."""
        self.dead = True
        self.error = error

    def reset(self, now: int, seq: int | None = None) -> None:
        """Sends a reset (RFC 9293 section 3.10.7.1) and removes the connection."""
        view = self.view()
        number = view["nxt"] if seq is None else seq
        packet = Packet(flags="R." if seq is None else "R", seq=self.wire_seq(number), length=0, win=0, time=now, options=())
        if seq is None:
            packet.ack = view["rcv_nxt"] & 0xFFFFFFFF
            if self.timestamps:
                clock = self.last_live + (now - self.last_live_at) // TICK
                packet.options = (("nop",), ("nop",), ("TS", clock & 0xFFFFFFFF, view["ts_recent"]))
        self.out.append(packet)
        self.dead = True

    def refuse(self, now: int, packet: Packet) -> None:
        """Replies to a segment for a removed connection (RFC 9293 section 3.10.7.1)."""
        if packet.has("R"):
            return
        if packet.ack is not None:
            seq = (packet.ack - (self.local_isn if packet.has("S") else 0)) & 0xFFFFFFFF
            answer = Packet(flags="R", seq=seq, win=0, time=now)
        else:
            end = packet.seq + packet.length + packet.has("S") + packet.has("F")
            answer = Packet(flags="R.", seq=0, ack=end & 0xFFFFFFFF, win=0, time=now)
        self.out.append(answer)

    @staticmethod
    def near(number: int, around: int) -> int:
        """Returns the 64-bit number with these low 32 bits nearest to `around`."""
        delta = (number - around) & 0xFFFFFFFF
        return around + (delta - (1 << 32) if delta >= 1 << 31 else delta)

    def wire_seq(self, seq: int, syn: bool = False) -> int:
        """Returns a sequence number in the notation of the script."""
        return (seq + (self.local_isn if syn else 0)) & 0xFFFFFFFF

    def live(self, echo: int) -> int:
        """Returns our timestamp for the number `echo` in the script."""
        if echo in self.live_of:
            return self.live_of[echo]
        if self.ts_base is not None:
            return (echo - self.ts_base[0] + self.ts_base[1]) & 0xFFFFFFFF
        return self.last_live if echo else 0

    def shown(self, live: int) -> int:
        """Returns our timestamp in the numbers of the script."""
        return (live - self.ts_base[1] + self.ts_base[0]) & 0xFFFFFFFF if self.ts_base is not None else live

    def learn(self, scripted: int, live: int) -> None:
        """Maps the number `said` in the script to our timestamp `live`."""
        self.live_of[scripted] = live
        if self.ts_base is None:
            self.ts_base = (scripted, live)

    def take(self, now: int, wires: list[tuple[Any, ...]]) -> None:
        """Puts segments of the endpoint on the wire."""
        for seq, ack, payload, flags, window, sack, stamps, ecn, again, _length, fast_open in wires:
            syn = bool(flags & SYN)
            if syn and not self.passive and not flags & ACK:
                if self.syns > self.retries():
                    self.fail("ETIMEDOUT")
                    return
                if stamps:
                    stamps = (stamps[0], self.echo)
            self.syns += syn
            letters = "".join(letter for letter, bit in _LETTERS if flags & bit)
            packet = Packet(flags=letters, seq=self.wire_seq(seq, syn), length=payload, time=now)
            packet.ecn = _CODEPOINTS[ecn]
            if flags & ACK:
                packet.ack = (ack + (self.remote_isn if syn else 0)) & 0xFFFFFFFF
                self.last["ack_sent"] = now
            packet.win = min(window, 65535) if syn else min(window >> self.our_scale, 65535)
            packet.options = self.write_options(syn, bool(flags & ACK), stamps, sack)
            if syn:
                self.finish_syn(packet, fast_open)
            if stamps:
                self.first_live = self.first_live or stamps[0]
                self.last_live, self.last_live_at = stamps[0], now
            if again and self.again_since is None and not syn:
                self.again_since = now
            if payload:
                self.last["data_sent"] = now
                end = seq + payload
                if payload < self.mss and not syn and not (again and self.asked is not None):
                    self.small_end = max(self.small_end, end)
                if end in self.push_ends and not syn:
                    packet.flags = packet.flags.replace(".", "P.") if "P" not in packet.flags else packet.flags
            self.count["segs_out"] += 1
            self.out.append(packet)

    def write_options(self, syn: bool, ack: bool, stamps: Any, sack: list[tuple[int, int]]) -> tuple[tuple[Any, ...], ...]:
        """Returns options in the order and with the padding of Linux (tcp_options_write)."""
        out: list[tuple[Any, ...]] = []
        if syn:
            out.append(("mss", self.offered_mss()))
            if self.timestamps and stamps:
                out += [("sackOK",)] if self.sack else [("nop",), ("nop",)]
                out.append(("TS", *stamps))
            elif self.sack:
                out += [("nop",), ("nop",), ("sackOK",)]
            if self.scaling:
                out += [("nop",), ("wscale", self.our_scale)]
            return tuple(out)
        if self.timestamps and stamps:
            out += [("nop",), ("nop",), ("TS", *stamps)]
        if sack:
            blocks = [(a & 0xFFFFFFFF, b & 0xFFFFFFFF) for a, b in sack]
            out += [("nop",), ("nop",), ("sack", *blocks)]
        return tuple(out)

    # The application.

    @property
    def mss(self) -> int:
        """Payload of a full segment."""
        return int(self.view()["mss"])

    def view(self) -> dict[str, Any]:
        """The endpoint's state."""
        state: dict[str, Any] = self.core.view()
        return state

    @property
    def established(self) -> bool:
        """True if data may be sent."""
        return bool(self.note_opening().get("established"))

    def note_opening(self) -> dict[str, Any]:
        """Returns true if the connection is established, or was before a reset."""
        view = self.view() if self.core is not None else {}
        if (view.get("established") or view.get("early")) and not self.was_established:
            self.was_established = True
            self.opened(view)
        return view

    @property
    def una(self) -> int:
        """Oldest unacknowledged sequence number."""
        return int(self.view()["una"])

    @property
    def rcv_nxt(self) -> int:
        """Next sequence number expected of the peer."""
        return int(self.view()["rcv_nxt"])

    def readable(self) -> int:
        """Bytes available to read()."""
        return int(self.core.delivered - self.read_bytes)

    def before_urgent(self, skip: bool = False) -> int:
        """Returns the bytes up to urgent data; `skip` skips it if it is next (tcp_recvmsg)."""
        if self.urgent is not None and skip and self.read_bytes == self.urgent and self.readable():
            self.read_bytes += 1
        if self.urgent is None or self.urgent < self.read_bytes:
            return self.readable()
        return min(self.readable(), self.urgent - self.read_bytes)

    def at_end(self) -> bool:
        """True if the peer has closed and all its data was read."""
        return self.dead or bool(self.view()["peer_closed"])

    def release(self, now: int) -> None:
        """Executes close(); unread data causes a reset (RFC 2525 section 2.17)."""
        if self.dead:
            return
        if (self.established or self.was_established) and self.readable() > 0:
            self.reset(now)
            return
        self.orphan = True
        self.close(now)

    # Time.

    def deadline(self) -> int | None:
        """Returns the next deadline of the connection."""
        if self.dead or self.core is None:
            return None
        due = [t - EPOCH for _, t in self.core.deadlines()]
        due += self.clocks()
        return min(due if self.probe_at is None else [*due, self.probe_at], default=None)

    def advance(self, now: int) -> None:
        """Runs the due timers."""
        if not self.dead:
            self.take(now, self.core.advance(now + EPOCH))
            self.probe(now)
            self.heard(now)
            self.tick(now)

    def gives_up(self, now: int, *, reset: bool) -> None:
        """Ends the connection with ETIMEDOUT."""
        if reset:
            self.reset(now)
        self.fail("ETIMEDOUT")

    def send_keepalive(self, now: int) -> None:
        """Sends a keepalive: an acknowledgment with an old sequence number (RFC 9293 section 3.8.4)."""
        view = self.view()
        packet = Packet(flags=".", seq=self.wire_seq(view["una"] - 1), time=now, win=min(self.buffer() >> self.our_scale, 65535))
        packet.ack, packet.options = view["rcv_nxt"] & 0xFFFFFFFF, ()
        if self.timestamps:
            clock = self.last_live + (now - self.last_live_at) // TICK
            packet.options = (("nop",), ("nop",), ("TS", clock & 0xFFFFFFFF, view["ts_recent"]))
        self.out.append(packet)

    # Counters of Linux.

    def delivered(self, v: dict[str, Any]) -> int:
        """Returns the delivered segments including our SYN (Linux counts it); without RACK derived from acknowledged and SACKed bytes."""
        if not v["established"]:
            return 0
        return 1 + int(v["delivered"] if "delivered" in v else -(-v["acked"] // v["mss"]) + v["sacked"])
