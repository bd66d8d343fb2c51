"""The send path of a connection: send buffer, Nagle's algorithm, records, closing."""

from __future__ import annotations

from typing import Any

from .buffer import BUFFER, BUSY, DIVISOR, UNLIMITED, WINDOW, Chronograph, SendBuffer, burst, size_goal
from .error_queue import Errors
from .keepalive import Idling
from .settings import Settings

EPOCH = 1_000_000_000_000_000
"""Clock of the endpoint at the start of the script: timestamps of 0 have a special meaning."""

LEAST_PROBE = 200_000_000_000
"""TCP_RTO_MIN, in picoseconds."""


class Sending(Idling):
    """The sending half of a connection. Bytes count from 0, sequence numbers of data from 1."""

    settings: Settings
    options: dict[str, Any]
    core: Any
    dead: bool
    passive: bool
    scaling: bool

    def __init__(self) -> None:
        self.send_buffer = SendBuffer(self.settings.memory("tcp_wmem"))
        if self.options.get("SO_SNDBUF"):
            self.send_buffer.fix(self.options["SO_SNDBUF"])
        super().__init__()
        self.chrono = Chronograph()
        self.errors = Errors()
        self.fed = 0
        self.small_end = 0
        self.closed = False
        self.closing_told = False
        self.orphan = False
        self.cork = False
        self.nodelay = bool(self.options.get("TCP_NODELAY"))
        self.push_ends: set[int] = set()
        self.pushed = 0
        self.peer_win = 0
        self.greatest_win = 0
        self.probe_at: int | None = None
        self.cuts: list[int] = []
        """Places where a write is split into buffers."""
        self.woken = 0
        """Number of reports of room to a writer, for edge-triggered epoll."""

    def view(self) -> dict[str, Any]:
        """The endpoint's state."""
        raise NotImplementedError

    def take(self, now: int, wires: list[tuple[Any, ...]]) -> None:
        """Puts segments of the endpoint on the wire."""
        raise NotImplementedError

    @property
    def established(self) -> bool:
        """True if data may be sent."""
        raise NotImplementedError

    @property
    def written(self) -> int:
        """Bytes written to the send buffer so far."""
        return self.send_buffer.written

    @property
    def lowat(self) -> int:
        """Limit of unsent bytes for a writable socket (TCP_NOTSENT_LOWAT)."""
        own = self.options.get("TCP_NOTSENT_LOWAT")
        return int(own) & UNLIMITED if own else self.settings.number("tcp_notsent_lowat")

    def opened(self, view: dict[str, Any]) -> None:
        """Sizes the buffer for the first window when data may be sent."""
        self.send_buffer.grow(view["window"] // view["mss"], view["mss"])

    def write(self, now: int, size: int, more: bool = False, record: bool = False) -> int:
        """Writes application data; returns the bytes that the send buffer took."""
        taken = 0
        view = self.view()
        mss = view["mss"]
        goal = size_goal(mss, self.greatest_win)
        if size == 0 and record:
            self.send_buffer.record_ends()
        while taken < size:
            if self.send_buffer.acked == self.send_buffer.written:
                self.chrono.start(BUSY, now)
            upto = next((c for c in self.cuts if c > taken), size)
            step = self.send_buffer.add(min(upto, size) - taken, goal, self.lowat)
            if step == 0:
                self.send_buffer.full = True
                break
            taken += step
            if taken in self.cuts:
                self.send_buffer.record_ends()
                self.push()
            if taken < size:
                if self.send_buffer.written > self.pushed + (self.greatest_win >> 1):
                    self.push()
                self.feed(now, more=True)
        self.cuts = []
        if taken:
            done = taken == size
            if record and done:
                self.send_buffer.record_ends()
            if not (more and done):
                self.push()
            self.feed(now, more=more and done)
        return taken

    def push(self) -> None:
        """Sets PSH on the segment that ends here."""
        self.pushed = self.send_buffer.written
        self.push_ends.add(self.pushed + 1)

    def feed(self, now: int, more: bool = False, push: bool = False) -> None:
        """Passes data released by Nagle's algorithm to the endpoint, by record (RFC 9293 section 3.7.4; Minshall's change as in Linux)."""
        if self.dead or self.core is None:
            return
        while True:
            view = self.view()
            end = self.send_buffer.boundary(view["nxt"] - 1)
            tail = end is None or end == self.written
            end = self.written if end is None else end
            give = end - self.fed
            if give > 0 and tail:
                # Bytes passed to the endpoint that did not fit the window stay in one piece with later ones.
                stuck = self.fed + 1 - view["nxt"] if view["established"] else self.fed
                rest = (stuck + give) % view["mss"] if stuck >= 0 else give % view["mss"]
                held = self.cork or more or (not self.nodelay and self.small_end > view["una"])
                if rest and held and not push and not self.closed:
                    give -= rest
            if give <= 0:
                break
            self.fed += give
            self.take(now, self.core.write(now + EPOCH, give, False))
            self.note_sent(now)
            if tail or self.view()["nxt"] - 1 < end:
                break
        if self.closed and not self.closing_told and self.fed == self.written:
            self.closing_told = True
            self.take(now, self.core.write(now + EPOCH, 0, True))
        self.note_sent(now)
        self.note_limits(now)
        self.errors.progress(now, self.send_buffer.sent, self.send_buffer.acked)
        view = self.view()
        self.watch(now, view, self.written - self.send_buffer.sent)
        held = self.written > self.fed and view["una"] == view["nxt"] and view["established"]
        if not held:
            self.probe_at = None
        elif self.probe_at is None:
            # Without data in flight no acknowledgment releases it: a probe timer does (tcp_check_probe_timer).
            self.probe_at = now + max(round(view["rto"] * 1e12), LEAST_PROBE)

    def probe(self, now: int) -> None:
        """Sends held data with PSH at its end (tcp_write_wakeup)."""
        if self.probe_at is not None and now >= self.probe_at:
            self.push_ends.add(self.written + 1)
            self.feed(now, push=True)

    def note_sent(self, now: int) -> None:
        """Returns the end of the data given to the card; a small rest of the window waits for an acknowledgment (tcp_tso_should_defer)."""
        v = self.view()
        end = min(v["nxt"] - 1, self.written)
        if end <= self.send_buffer.sent:
            return
        srtt = v["srtt"]
        ratio = "pacing_slow_start" if v["window"] < v["ssthresh"] / 2 else "pacing_avoidance"
        factor = float(self.settings.parameters().get(ratio, 2.0 if ratio == "pacing_slow_start" else 1.2))
        rate = v.get("pacing_rate") or (factor * max(v["window"], v["nxt"] - v["una"]) / srtt if srtt else 1e15)
        most = burst(v["mss"], rate, v.get("min_rtt", 1.0), self.settings.number("tcp_min_tso_segs"))
        rest = self.send_buffer.partial(end, most)
        if rest:
            share = min(self.peer_win, v["window"]) // DIVISOR
            head = next((p.at for p in self.send_buffer.pieces if p.end <= self.send_buffer.sent), now)
            # True if the next acknowledgment is near: half a round-trip time, or a millisecond.
            soon = head + srtt * 1e12 - now <= min(srtt * 1e12 / 2, 1e9) and now > head
            if v["in_flight"] + v["mss"] > v["window"] and rest < share and soon:
                end -= rest
        while self.send_buffer.sent < end:
            self.send_buffer.out(self.send_buffer.next_cut(end, most), most, now)
            self.check_space(now, v)

    def heard(self, now: int) -> None:
        """Processes an arrival: acknowledged data leaves the buffer, and a waiting writer may continue."""
        self.send_buffer.acknowledge(min(self.view()["una"] - 1, self.written))
        self.feed(now)
        self.check_space(now, self.view())
        self.note_limits(now)

    def check_space(self, now: int, v: dict[str, Any]) -> None:
        """Grows the buffer for a waiting writer unless the window is full (tcp_check_space)."""
        buffer = self.send_buffer
        if buffer.full and self.established:
            # Data waiting for the card is not in flight for the kernel.
            if v["in_flight"] - (v["nxt"] - 1 - buffer.sent) < v["window"]:
                buffer.grow(max(v["window"] // v["mss"], v["reordering"] + 1), v["mss"])
            self.has_room(now)

    def has_room(self, now: int) -> None:
        """Wakes a writer if there is enough room (sk_stream_write_space)."""
        if self.send_buffer.writeable(self.lowat, wake=1) and self.send_buffer.full:
            self.send_buffer.full = False
            self.woken += 1
            self.chrono.stop(BUFFER, now, self.idle())

    def idle(self) -> bool:
        """True without unsent and unacknowledged data."""
        return self.send_buffer.acked == self.send_buffer.written

    def writeable(self) -> bool:
        """Returns the answer of poll(); a socket without room is reported later."""
        found = self.send_buffer.writeable(self.lowat, wake=1)
        if not found:
            self.send_buffer.full = True
        return found

    def note_limits(self, now: int) -> None:
        """Updates what limits the sender (tcp_write_xmit, tcp_cwnd_validate)."""
        if self.idle():
            self.chrono.stop(BUSY, now, empty=True)
            return
        v = self.view()
        waiting = self.written - self.send_buffer.sent
        head = min(waiting, v["mss"])
        if waiting and v["established"] and v["in_flight"] + head <= v["window"] and v["nxt"] + head > v["una"] + self.peer_win:
            self.chrono.start(WINDOW, now)
        else:
            self.chrono.stop(WINDOW, now, empty=False)
            if not waiting and self.send_buffer.full and v["in_flight"] < v["window"]:
                self.chrono.start(BUFFER, now)

    def block(self, now: int, blocked: bool) -> None:
        """Blocks or unblocks the queue of the device."""
        if not self.dead and self.core is not None and blocked != self.blocked:
            self.blocked = blocked
            self.take(now, self.core.hold(now + EPOCH, blocked))

    blocked = False

    def close(self, now: int) -> None:
        """Closes the connection, or its sending half."""
        if self.dead or self.closed:
            return
        self.closed = True
        if not self.established and not self.passive:
            self.dead = True
            return
        self.push()
        self.feed(now)
