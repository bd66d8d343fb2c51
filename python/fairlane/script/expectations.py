"""Packets that a script expects, compared with the packets sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .flags import Flags
from .lexer import Source
from .model import Event, Expect, Packet
from .wire import differences, follows, joined, show

if TYPE_CHECKING:
    from .connection import Connection

PS = 1_000_000
PATIENCE = 250 * 1_000_000
"""Microseconds that `*` waits for a packet: longer than the longest RTO."""


class ScriptFailure(Exception):
    """A failed expectation; the text is the message."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


class Expecting:
    """The comparisons of a run."""

    source: Source
    flags: Flags
    connections: list[Connection]
    now: int
    offset: int
    """Reference time of the current event."""
    last_time: int
    sender: Connection | None = None

    def next_deadline(self) -> int | None:
        """Returns the next deadline of the connections."""
        raise NotImplementedError

    def run_until(self, time: int) -> None:
        """Advances the time."""
        raise NotImplementedError

    def settle(self) -> None:
        """Lets a waiting call return."""
        raise NotImplementedError

    def complain(self, failure: ScriptFailure) -> None:
        """Reports a failure that --non_fatal ignores."""
        raise NotImplementedError

    def failure(self, line: int, message: str) -> ScriptFailure:
        """Returns the failure at a line."""
        return ScriptFailure(f"{self.source.file}:{line}: {message}", line)

    def at(self, event: Event, time: int) -> str:
        """Returns a time as in the script, relative to the previous event if the script is, and from the start."""
        if not event.when.relative or event.when.any:
            return seconds(time)
        return f"{(time - self.offset) / 1e12:+.6f} ({seconds(time)})"

    def allowed(self, start: int) -> int:
        """Returns the timing tolerance of an event."""
        share = round(max(0, start - self.last_time) * self.flags.tolerance_percent / 100)
        return max(self.flags.tolerance_usecs * PS, share)

    def expect(self, event: Expect, start: int, end: int | None) -> None:
        """Checks an expected packet."""
        try:
            self.match(event, start, end)
        except ScriptFailure as e:
            if "packet" not in self.flags.non_fatal or not self.found:
                raise
            self.complain(e)
        self.settle()

    found = False
    """Marks a packet as seen, expected or not."""

    def match(self, event: Expect, start: int, end: int | None) -> None:
        """Takes the sent packet, or the segments that form one, and compares."""
        want, when = event.packet, event.when
        allowed = self.allowed(start)
        limit = self.now + PATIENCE * PS if when.any else (start if end is None else end) + allowed
        pieces: list[Packet] = []
        whole = not self.flags.strict_segments
        while True:
            ready = self.queue()
            while ready and (not pieces or (whole and sum(p.length for p in pieces) < want.length and follows(pieces, ready[0]))):
                pieces.append(ready.pop(0))
            if pieces and (ready or not whole or sum(p.length for p in pieces) >= want.length or want.length == 0):
                break
            due = self.next_deadline()
            if due is None or due > (limit if not pieces else pieces[0].time + allowed):
                break
            self.run_until(due)
        self.found = bool(pieces)
        if not pieces:
            until = "" if when.any else f" by {self.at(event, limit)}"
            raise self.failure(event.line, f"no packet left{until}\n  script packet: {self.at(event, start)} {show(want)}")
        self.compare_packet(event, joined(pieces), start, end)

    def compare_packet(self, event: Expect, actual: Packet, start: int, end: int | None) -> None:
        """Compares the sent packet with the script."""
        want, when, c = event.packet, event.when, self.sender
        allowed = self.allowed(start)
        mss = c.mss if c is not None and c.core is not None else 0
        if actual.length > mss or (want.has("P") and actual.length == mss):
            # PSH also depends on the buffers and the offload of a kernel: not compared.
            actual.flags = "".join(x for x in "SFRPUEWAN." if (x in want.flags if x == "P" else x in actual.flags))
        if c is not None:
            self.adopt(c, want, actual)
        wrong = differences(want, actual) + self.clock(c, want, actual)
        if wrong:
            lines = [f"the packet is not as expected: {'; '.join(wrong)}", f"  script packet: {self.at(event, start)} {show(want)}"]
            lines.append(f"  actual packet: {self.at(event, actual.time)} {show(actual)}")
            raise self.failure(event.line, "\n".join(lines))
        if actual.length > mss and c is not None:
            c.push_ends.add(c.near(actual.seq + actual.length, c.una))
        if not when.any and not start - allowed <= actual.time <= (start if end is None else end) + allowed:
            span = self.at(event, start) if end is None else f"{self.at(event, start)}~{self.at(event, end)}"
            message = f"the packet should leave at {span} and left at {self.at(event, actual.time)} (tolerance {seconds(allowed)})"
            raise self.failure(event.line, f"timing: {message}\n  script packet: {show(want)}")

    def queue(self) -> list[Packet]:
        """Returns the packets sent and not yet expected, of the connection opened last, as in packetdrill."""
        for c in self.connections[:-1]:
            c.out.clear()
        self.sender = self.connections[-1] if self.connections else None
        return self.sender.out if self.sender is not None else []

    def adopt(self, c: Connection, want: Packet, actual: Packet) -> None:
        """Learns the numbers of our sequence numbers and timestamps in the script."""
        if want.has("S") and actual.has("S") and c.local_isn == 0 and want.seq != actual.seq:
            c.local_isn = want.seq
            actual.seq = (actual.seq + want.seq) & 0xFFFFFFFF
            for p in c.out:
                p.seq = (p.seq + want.seq * p.has("S")) & 0xFFFFFFFF
        scripted, live = stamp(want), stamp(actual)
        if scripted is not None and live is not None:
            c.learn(scripted, live)
            actual.options = tuple(("TS", c.shown(live), o[2]) if o[0] == "TS" else o for o in actual.options or ())

    def clock(self, c: Connection | None, want: Packet, actual: Packet) -> list[str]:
        """Checks the rate of our timestamps (--tcp_ts_tick_usecs)."""
        scripted, shown = stamp(want), stamp(actual)
        if not self.flags.tcp_ts_tick_usecs or scripted is None or shown is None:
            return []
        if abs(shown - scripted) * self.flags.tcp_ts_tick_usecs <= self.flags.tolerance_usecs:
            return []
        return [f"timestamp: expected {scripted}, actual {shown}"]


def stamp(packet: Packet) -> int | None:
    """Returns the value of the timestamps option."""
    return next((o[1] for o in packet.options or () if o[0] == "TS"), None)


def seconds(ps: int) -> str:
    """Formats a time."""
    return f"{ps / 1e12:.6f} s"
