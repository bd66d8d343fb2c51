"""Runs a script: one event after the other, against a host in simulated time."""

from __future__ import annotations

import io
import json
import textwrap
import traceback
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import _core
from ..errors import FairlaneError
from .calls import Calls, value_of
from .check import check
from .connection import PS, Connection
from .lexer import Source
from .model import WILD, Code, Event, Expect, Inject, Name, Packet, Script, Shell, Syscall, When
from .parser import parse
from .settings import Settings
from .sockets import BLOCKS, Failed, Socket
from .tcp_info import tcp_info
from .wire import differences, follows, joined, show, show_options

TOLERANCE = 4_000
"""Microseconds by which an event may miss its time, unless --tolerance_usecs says otherwise."""
TOLERANCE_SHARE = 8
"""... or one part in so many of the time since the event before it, if that is more (packetdrill: --tolerance_percent of 12.5)."""
PATIENCE = 250 * 1_000_000
"""Microseconds that `*` waits for a packet: longer than the longest RTO."""
DEFINES = {"CMSG_LEVEL_IP": "SOL_IP", "CMSG_TYPE_RECVERR": "IP_RECVERR"}
"""Symbols that the kernel's runner of packet scripts defines."""
CONSTANTS = {f"TCP_CA_{name}": i for i, name in enumerate(("Open", "Disorder", "CWR", "Recovery", "Loss"))}
CONSTANTS |= {
    f"TCP_{name}": i + 1
    for i, name in enumerate(
        (
            "ESTABLISHED",
            "SYN_SENT",
            "SYN_RECV",
            "FIN_WAIT1",
            "FIN_WAIT2",
            "TIME_WAIT",
            "CLOSE",
            "CLOSE_WAIT",
            "LAST_ACK",
            "LISTEN",
            "CLOSING",
        )
    )
}
CONSTANTS |= {
    "TCPI_OPT_TIMESTAMPS": 1,
    "TCPI_OPT_SACK": 2,
    "TCPI_OPT_WSCALE": 4,
    "TCPI_OPT_ECN": 8,
    "TCPI_OPT_ECN_SEEN": 16,
    "TCPI_OPT_SYN_DATA": 32,
}
_OPTIONS = {"tolerance_usecs", "tolerance_percent", "tcp_ts_tick_usecs", "mtu", "ip_version", "mss", "local_ip", "remote_ip", "gateway_ip"}
_OPTIONS |= {
    "netmask_ip",
    "bind_port",
    "connect_port",
    "speed",
    "non_fatal",
    "send_omit_free",
    "dry_run",
    "verbose",
    "init_scripts",
    "prefix",
}
_OPTIONS |= {"define", "D", "code_command", "code_format", "code_sockopt", "quiet", "debug"}


class ScriptFailure(Exception):
    """A script that did not go as it says; the text is the message."""


@dataclass
class Outcome:
    """What came of a script."""

    file: str
    passed: bool
    message: str = ""
    line: int | None = None
    time: float = 0.0
    events: int = 0
    warnings: list[str] = field(default_factory=list)
    timeline: list[str] = field(default_factory=list)
    printed: str = ""


def run_file(
    path: str | Path, *, preset: str = "linux", changes: dict[str, Any] | None = None, defines: dict[str, str] | None = None
) -> Outcome:
    """Runs the script in a file; `ScriptError` if it cannot be read."""
    file = Path(path)
    text = file.read_text(encoding="utf-8", errors="replace")
    return run_text(text, str(path), preset=preset, changes=changes, defines=defines)


def run_text(
    text: str, file: str = "script", *, preset: str = "linux", changes: dict[str, Any] | None = None, defines: dict[str, str] | None = None
) -> Outcome:
    """Runs a script; `ScriptError` if it cannot be read."""
    script = parse(file, text, DEFINES | (defines or {}))
    return Run(script, preset, changes or {}).outcome()


class Run:
    """A script being run."""

    def __init__(self, script: Script, preset: str, changes: dict[str, Any]) -> None:
        self.script, self.preset, self.changes = script, preset, changes
        self.source = Source(script.file, script.text)
        self.settings = Settings()
        self.now = 0
        self.calls = Calls(self)
        self.connection: Connection | None = None
        self.connections: list[Connection] = []
        self.pending: tuple[Syscall, int, int] | None = None
        self.space: dict[str, Any] = dict(CONSTANTS)
        self.printed = io.StringIO()
        self.timeline: list[str] = []
        self.seen = 0
        self.tolerance = self.option("tolerance_usecs", TOLERANCE)
        self.ts_tick = self.option("tcp_ts_tick_usecs", 0)
        self.version = script.options.get("ip_version", "ipv4").split("-")[0]
        self.mtu = self.option("mtu", 1500 if self.version != "ipv6" else 1520)
        self.last: Event | None = None
        self.last_time = 0
        if self.version not in ("ipv4", "ipv6"):
            raise FairlaneError(f"{script.file}: --ip_version={self.version}: write ipv4 or ipv6")
        for name in script.options:
            if name not in _OPTIONS:
                self.settings.warn(f"{script.file}: the option --{name} changes nothing here")

    def option(self, name: str, otherwise: int) -> int:
        """An option at the top of the script."""
        value = self.script.options.get(name)
        if value is None:
            return otherwise
        try:
            return int(value)
        except ValueError:
            raise FairlaneError(f"{self.script.file}: --{name}={value}: write a whole number") from None

    def outcome(self) -> Outcome:
        """Runs to the end or the first failure."""
        done = 0
        out = Outcome(self.script.file, True, warnings=self.settings.warnings, timeline=self.timeline)
        try:
            check(self.source, self.script, self.calls.names)
            for event in self.script.events:
                self.step(event)
                done += 1
            self.finish_pending()
        except ScriptFailure as e:
            out.passed, out.message = False, str(e)
            out.line = self.script.events[min(done, len(self.script.events) - 1)].line
        self.note_sent()
        out.time, out.events, out.printed = self.now / 1e12, done, self.printed.getvalue()
        return out

    def failure(self, line: int, message: str) -> ScriptFailure:
        """A failure at a line."""
        return ScriptFailure(f"{self.script.file}:{line}: {message}")

    # Time.

    def step(self, event: Event) -> None:
        """One event."""
        when = event.when
        inbound = isinstance(event, Inject)
        base = self.last_time if inbound and isinstance(self.last, Inject) else self.now
        offset = base if when.relative else 0
        start = offset + when.start * PS
        end = None if when.end is None else offset + when.end * PS
        if isinstance(event, Expect):
            self.expect(event, start, end)
        else:
            if not when.any and not when.relative and start < self.now - self.allowed(start):
                raise self.failure(event.line, f"timing: the event is due at {_s(start)}, and it is {_s(self.now)} already")
            if not when.any:
                self.run_until(start)
            if isinstance(event, Syscall):
                self.finish_pending()
                self.call(event, start if when.until is None else offset + when.until * PS)
            elif isinstance(event, Inject):
                self.inject(event)
            elif isinstance(event, Code):
                self.code(event)
            elif isinstance(event, Shell):
                self.settings.read(event.text, Path(self.script.file).parent, f"{self.script.file}:{event.line}")
        self.last, self.last_time = event, max(start, 0) if not when.any else self.now

    def allowed(self, start: int) -> int:
        """How far an event may miss its time."""
        return max(self.tolerance * PS, max(0, start - self.last_time) // TOLERANCE_SHARE)

    def next_deadline(self) -> int | None:
        """When something happens by itself."""
        return min((t for t in (c.deadline() for c in self.connections) if t is not None), default=None)

    def run_until(self, time: int) -> None:
        """Time passes."""
        for _ in range(1_000_000):
            due = self.next_deadline()
            if due is None or due > time:
                break
            self.now = max(self.now, due)
            for c in self.connections:
                c.advance(self.now)
            self.settle()
        self.now = max(self.now, time)

    def settle(self) -> None:
        """A call that waits may now return."""
        self.note_sent()
        if self.pending is not None:
            call, until, _began = self.pending
            value = self.calls.known(call)(call)
            if value is not BLOCKS:
                self.pending = None
                if abs(self.now - until) > self.allowed(until):
                    raise self.failure(call.line, f"timing: {call.name}() should return at {_s(until)} and returned at {_s(self.now)}")
                self.check_result(call, value)
                self.note_sent()

    def waited(self, call: Syscall, timeout: int) -> bool:
        """Whether the timeout of a call that waits, in milliseconds, is over."""
        if self.pending is None or self.pending[0] is not call:
            return False
        return timeout > 0 and self.now - self.pending[2] >= timeout * 1000 * PS

    def finish_pending(self) -> None:
        """The next call waits for the one before."""
        if self.pending is None:
            return
        call, until, _ = self.pending
        self.run_until(until)
        self.settle()
        if self.pending is not None:
            self.run_until(until + self.allowed(until))
            self.settle()
        if self.pending is not None:
            raise self.failure(call.line, f"{call.name}() should have returned at {_s(until)} and still waits")

    # Events.

    def call(self, event: Syscall, until: int) -> None:
        """A call of the application."""
        value = self.calls.known(event)(event)
        self.say(f"     {event.name}({', '.join(_arg(a) for a in event.args)}) = {_result(value)}")
        if value is BLOCKS:
            if event.when.until is None:
                raise self.failure(event.line, f"{event.name}() waits, and the script expects {_expected(event)} at once")
            self.pending = (event, until, self.now)
            return
        self.check_result(event, value)
        self.settle()

    def check_result(self, event: Syscall, value: Any) -> None:
        """What a call returned, against the script."""
        want = value_of(event.result)
        if isinstance(value, Failed):
            if want is not WILD and (
                want != -1
                or (event.errno is not None and event.errno != value.errno and not {event.errno, value.errno} <= {"EAGAIN", "EWOULDBLOCK"})
            ):
                raise self.failure(event.line, f"{event.name}() should return {_expected(event)} and returned -1 {value.errno}")
        elif want is not WILD and not isinstance(want, Name) and want != value:
            raise self.failure(event.line, f"{event.name}() should return {_expected(event)} and returned {value}")

    def open(self, options: dict[str, Any], passive: bool) -> Connection:
        """A new connection."""
        options = {"mtu": self.mtu, "ip_version": self.version} | options
        c = Connection(self.settings, options, passive, {"preset": self.preset} | self.changes)
        c.start(self.now)
        self.connection = c
        self.connections.append(c)
        self.note_sent()
        return c

    def algorithm(self, name: str) -> bool:
        """Whether there is a congestion control of this name."""
        try:
            _core.TcpEndpoint(json.dumps({"preset": self.preset, "cc": name}), False)
        except FairlaneError:
            return False
        return True

    def change_algorithm(self, c: Connection, call: Syscall) -> None:
        """setsockopt(TCP_CONGESTION) on a connection that is open: only while nothing was sent on it."""
        view = c.view()
        if not c.established or view["nxt"] > 1 or c.written:
            self.settings.warn(f"{self.source.file}:{call.line}: TCP_CONGESTION after data was sent changes nothing here")
            return
        c.core.change_algorithm(self.now, json.dumps(c.parameters())) if hasattr(c.core, "change_algorithm") else None

    def inject(self, event: Inject) -> None:
        """A packet arrives."""
        packet = event.packet
        self.say(f" <   {show(packet)}")
        if packet.icmp is not None:
            self.settings.warn(f"{self.source.file}:{event.line}: ICMP messages change nothing here")
            return
        for name, what in {"FO": "TCP Fast Open", "FOEXP": "TCP Fast Open", "md5": "the MD5 option", "ECN": "the AccECN option"}.items():
            if any(o[0] == name for o in packet.options or ()):
                self.settings.warn(f"{self.source.file}:{event.line}: {what} is not simulated: it is passed over")
        if packet.has("S") and not packet.has("."):
            listener = next((s for s in self.calls.sockets.values() if s.listening), None)
            c = self.connection
            fresh = c is None or c.dead or (c.was_established and c.closed)
            if listener is not None and fresh:
                c = self.open(listener.options, passive=True)
                listener.queue.append(c)
        if self.connection is None:
            raise self.failure(event.line, "a packet arrives, and no socket listens or connects")
        self.connection.inject(self.now, packet)
        self.settle()

    def expect(self, event: Expect, start: int, end: int | None) -> None:
        """A packet must leave."""
        want, when = event.packet, event.when
        allowed = self.allowed(start)
        limit = self.now + PATIENCE * PS if when.any else (start if end is None else end) + allowed
        pieces: list[Packet] = []
        while True:
            ready = self.queue()
            while ready and (not pieces or (sum(p.length for p in pieces) < want.length and follows(pieces, ready[0]))):
                pieces.append(ready.pop(0))
            if pieces and (ready or sum(p.length for p in pieces) >= want.length or want.length == 0):
                break
            due = self.next_deadline()
            if due is None or due > (limit if not pieces else pieces[0].time + allowed):
                break
            self.run_until(due)
        if not pieces:
            until = "" if when.any else f" by {_s(limit)}"
            raise self.failure(event.line, f"no packet left{until}\n  script packet: {_s(start)} {show(want)}")
        actual = joined(pieces)
        c = self.sender
        mss = c.mss if c is not None and c.core is not None else 0
        if actual.length > mss or (want.has("P") and actual.length == mss):
            # PSH also goes where a kernel cut its buffers, and with what segmentation offload will cut: not judged.
            actual.flags = "".join(x for x in "SFRPUEWAN." if (x in want.flags if x == "P" else x in actual.flags))
        if c is not None:
            self.adopt(c, want, actual)
        wrong = differences(want, actual) + self.clock(c, want, actual)
        if wrong:
            lines = [f"the packet is not as expected: {'; '.join(wrong)}", f"  script packet: {_s(start)} {show(want)}"]
            lines.append(f"  actual packet: {_s(actual.time)} {show(actual)}")
            raise self.failure(event.line, "\n".join(lines))
        if actual.length > mss and c is not None:
            c.push_ends.add(c.near(actual.seq + actual.length - c.local_isn, c.una))
        if not when.any and not start - allowed <= actual.time <= (start if end is None else end) + allowed:
            span = _s(start) if end is None else f"{_s(start)}~{_s(end)}"
            lines = [f"timing: the packet should leave at {span} and left at {_s(actual.time)} (tolerance {_s(allowed)})"]
            raise self.failure(event.line, "\n".join([*lines, f"  script packet: {show(want)}"]))
        self.settle()

    sender: Connection | None = None

    def queue(self) -> list[Packet]:
        """Packets that left and were not yet expected, of the connection that sent the earliest."""
        waiting = [c for c in self.connections if c.out]
        if not waiting:
            return []
        self.sender = min(waiting, key=lambda c: c.out[0].time)
        return self.sender.out

    def adopt(self, c: Connection, want: Packet, actual: Packet) -> None:
        """What the script calls our sequence numbers and timestamps."""
        if want.has("S") and actual.has("S") and c.local_isn == 0 and want.seq != actual.seq:
            c.local_isn = want.seq
            actual.seq = (actual.seq + want.seq) & 0xFFFFFFFF
            for p in c.out:
                p.seq = (p.seq + want.seq) & 0xFFFFFFFF
        said = next((o[1] for o in want.options or () if o[0] == "TS"), None)
        live = next((o[1] for o in actual.options or () if o[0] == "TS"), None)
        if said is not None and live is not None:
            c.learn(said, live)

    def clock(self, c: Connection | None, want: Packet, actual: Packet) -> list[str]:
        """With --tcp_ts_tick_usecs our timestamps must go at that pace."""
        said = next((o[1] for o in want.options or () if o[0] == "TS"), None)
        live = next((o[1] for o in actual.options or () if o[0] == "TS"), None)
        if not self.ts_tick or said is None or live is None or c is None or c.ts_base is None:
            return []
        shown = (live - c.ts_base[1] + c.ts_base[0]) & 0xFFFFFFFF
        if abs(shown - said) * self.ts_tick <= self.tolerance:
            return []
        return [f"timestamp: expected {said}, actual {shown}"]

    def code(self, event: Code) -> None:
        """Python of the script, with the connection's tcpi_ values."""
        c = self.connection
        if c is not None and c.core is not None:
            self.space.update(tcp_info(c, self.now))
        text = textwrap.dedent(event.text) if event.text.lstrip(" \t").startswith("\n") else event.text.strip()
        before = event.text[: len(event.text) - len(event.text.lstrip("\n"))].count("\n") if "\n" in event.text else 0
        del before
        try:
            with redirect_stdout(self.printed):
                exec(compile("\n" * (event.line - 1) + text + "\n\n", self.script.file, "exec"), self.space)
        except Exception as e:
            line = event.line
            for frame in traceback.extract_tb(e.__traceback__):
                if frame.filename == self.script.file and frame.lineno:
                    line = frame.lineno
            if isinstance(e, SyntaxError) and e.lineno:
                line = e.lineno
            lines = self.script.text.split("\n")
            shown = lines[line - 1].strip() if line <= len(lines) else ""
            said = f": {e}" if str(e) else ""
            raise self.failure(line, f"{type(e).__name__}{said}\n  {shown}") from None

    # What --verbose shows.

    def say(self, text: str) -> None:
        """A line of the time line."""
        self.timeline.append(f"{self.now / 1e12:.6f} {text}")

    def note_sent(self) -> None:
        """Packets that left since the last look go into the time line."""
        for c in self.connections:
            for p in c.out[getattr(c, "noted", 0) :]:
                self.timeline.append(f"{p.time / 1e12:.6f}  >  {show(p)}")
            c.noted = len(c.out)  # type: ignore[attr-defined]


def _s(ps: int) -> str:
    return f"{ps / 1e12:.6f} s"


def _arg(value: Any) -> str:
    if value is WILD:
        return "..."
    if isinstance(value, tuple):
        return "|".join(str(v) for v in value)
    return json.dumps(value) if isinstance(value, str) else "{...}" if hasattr(value, "fields") else str(value)


def _result(value: Any) -> str:
    return "..." if value is BLOCKS else f"-1 {value.errno}" if isinstance(value, Failed) else str(value)


def _expected(event: Syscall) -> str:
    return f"{event.result}" + (f" {event.errno}" if event.errno else "")


__all__ = ["Outcome", "Run", "ScriptFailure", "run_file", "run_text", "When", "Socket", "show_options"]
