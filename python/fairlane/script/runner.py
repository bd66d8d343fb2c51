"""Runner of scripts: the events in order, against a host in simulated time."""

from __future__ import annotations

import io
import json
import textwrap
import traceback
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import _core
from ..base.files import read_input
from ..errors import FairlaneError
from .calls import Calls, value_of
from .check import check
from .connection import PS, Connection
from .cookies import Cookies, Request
from .expectations import Expecting, ScriptFailure, seconds
from .flags import read_flags
from .icmp import while_opening
from .lexer import LARGEST, Source
from .model import WILD, Code, Event, Expect, Inject, Name, Script, Shell, Syscall
from .parser import parse
from .settings import Settings
from .sockets import BLOCKS, Failed, Socket
from .tcp_info import tcp_info
from .wire import show

PRESET = "linux-6.12"
"""Default preset under test: public scripts were written for such kernels."""
TIME_WAIT = 60 * 1_000_000 * PS
"""TCP_TIMEWAIT_LEN."""
DEFINES = {"CMSG_LEVEL_IP": "SOL_IP", "CMSG_TYPE_RECVERR": "IP_RECVERR", "CODE": "host_unreachable"}
DEFINES |= {"TFO_COOKIE": "3021b9d889017eeb", "TFO_COOKIE_ZERO": "b7c12350a90dc8f5"}
"""Symbols defined by the kernel's runner of packet scripts."""
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


@dataclass
class Outcome:
    """Outcome of a script."""

    file: str
    passed: bool
    message: str = ""
    line: int | None = None
    time: float = 0.0
    events: int = 0
    warnings: list[str] = field(default_factory=list)
    timeline: list[str] = field(default_factory=list)
    printed: str = ""
    kind: str = "passed"
    """passed, failed, refused (needs a feature that is not simulated) or unreadable."""
    column: int | None = None
    help: str = ""
    rendered: str = ""
    """Message with its line, for scripts that did not run."""


def run_file(
    path: str | Path,
    *,
    preset: str = PRESET,
    changes: dict[str, Any] | None = None,
    defines: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
) -> Outcome:
    """Runs the script in a file; raises `ScriptError` if it cannot be read.

    `options` are those of packetdrill, such as `{"mtu": "1280"}`; they override those of the script.
    """
    file = Path(path)
    text = read_input(file, LARGEST).decode("utf-8", errors="replace").removeprefix("\ufeff")
    return run_text(text, str(path), preset=preset, changes=changes, defines=defines, options=options)


def run_text(
    text: str,
    file: str = "script",
    *,
    preset: str = PRESET,
    changes: dict[str, Any] | None = None,
    defines: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
) -> Outcome:
    """Runs a script; raises `ScriptError` if it cannot be read, `Refusal` if it needs a feature that is not simulated."""
    script = parse(file, text, DEFINES | dict(defines or {}))
    return Run(script, preset, changes or {}, options or {}).outcome()


class Run(Expecting):
    """A run of a script."""

    def __init__(self, script: Script, preset: str, changes: dict[str, Any], given: Mapping[str, str]) -> None:
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
        self.last: Event | None = None
        self.last_time = self.offset = 0
        self.flags = read_flags(self.source, script, given)
        self.cookies = Cookies(self.settings, self.flags.addresses)

    def outcome(self) -> Outcome:
        """Runs the script to its end or the first failure."""
        done = 0
        check(self.source, self.script, self.calls.names)
        folder = Path(self.script.file).parent
        self.settings.begin(self.script, folder, self.flags.init_scripts)
        if self.flags.dry_run:
            return Outcome(self.script.file, True, warnings=self.settings.warnings)
        out = Outcome(self.script.file, True, warnings=self.settings.warnings, timeline=self.timeline)
        try:
            for event in self.script.events:
                self.step(event)
                done += 1
            self.finish_pending()
        except ScriptFailure as e:
            out.passed, out.kind, out.message = False, "failed", str(e)
            out.line = e.line
        self.note_sent()
        out.time, out.events, out.printed = self.now / 1e12, done, self.printed.getvalue()
        return out

    # Time.

    def step(self, event: Event) -> None:
        """Executes one event."""
        when = event.when
        inbound = isinstance(event, Inject)
        base = self.last_time if inbound and isinstance(self.last, Inject) else self.now
        offset = self.offset = base if when.relative else 0
        start = offset + when.start * PS
        end = None if when.end is None else offset + when.end * PS
        if isinstance(event, Expect):
            self.expect(event, start, end)
        else:
            if not when.any and not when.relative and start < self.now - self.allowed(start):
                raise self.failure(event.line, f"timing: the event is due at {seconds(start)}, and it is {seconds(self.now)} already")
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
                self.settings.read(event.text, Path(self.script.file).parent)
                for c in self.connections:
                    c.block(self.now, self.settings.blocked)
                self.settle()
        self.last, self.last_time = event, max(start, 0) if not when.any else self.now

    def next_deadline(self) -> int | None:
        """Returns the next deadline of the connections."""
        return min((t for t in (c.deadline() for c in self.connections) if t is not None), default=None)

    def run_until(self, time: int) -> None:
        """Advances the time."""
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
        """Lets a waiting call return."""
        self.note_sent()
        if self.pending is not None:
            call, until, _began = self.pending
            value = self.calls.known(call)(call)
            if value is not BLOCKS:
                self.pending = None
                if abs(self.now - until) > self.allowed(until):
                    raise self.failure(
                        call.line, f"timing: {call.name}() should return at {seconds(until)} and returned at {seconds(self.now)}"
                    )
                self.judge(call, value)
                self.note_sent()

    def waited(self, call: Syscall, timeout: int) -> bool:
        """Returns true if the timeout of a waiting call, in milliseconds, is over."""
        if self.pending is None or self.pending[0] is not call:
            return False
        return timeout > 0 and self.now - self.pending[2] >= timeout * 1000 * PS

    def finish_pending(self) -> None:
        """Waits for the pending call."""
        if self.pending is None:
            return
        call, until, _ = self.pending
        self.run_until(until)
        self.settle()
        if self.pending is not None:
            self.run_until(until + self.allowed(until))
            self.settle()
        if self.pending is not None:
            raise self.failure(call.line, f"{call.name}() should have returned at {seconds(until)} and still waits")

    # Events.

    def call(self, event: Syscall, until: int) -> None:
        """Executes a call of the application."""
        value = self.calls.known(event)(event)
        self.say(f"     {event.name}({', '.join(_arg(a) for a in event.args)}) = {_result(value)}")
        if value is BLOCKS:
            if event.when.until is None:
                raise self.failure(event.line, f"{event.name}() waits, and the script expects {_expected(event)} at once")
            self.pending = (event, until, self.now)
            return
        self.judge(event, value)
        self.settle()

    def judge(self, event: Syscall, value: Any) -> None:
        """Checks the result of a call; failures ignored by --non_fatal become warnings."""
        try:
            self.check_result(event, value)
        except ScriptFailure as e:
            if "syscall" not in self.flags.non_fatal:
                raise
            self.complain(e)

    def check_result(self, event: Syscall, value: Any) -> None:
        """Compares the result of a call with the script."""
        want = value_of(event.result)
        if isinstance(value, Failed):
            if want is not WILD and (
                want != -1
                or (event.errno is not None and event.errno != value.errno and not {event.errno, value.errno} <= {"EAGAIN", "EWOULDBLOCK"})
            ):
                raise self.failure(event.line, f"{event.name}() should return {_expected(event)} and returned -1 {value.errno}")
        elif want is not WILD and not isinstance(want, Name) and want != value:
            raise self.failure(event.line, f"{event.name}() should return {_expected(event)} and returned {value}")

    def open(
        self, options: dict[str, Any], passive: bool, echo: int = 0, asked: Request | None = None, listener: Socket | None = None
    ) -> Connection:
        """Opens a connection; packets of earlier ones are ignored."""
        for old in self.connections:
            old.out.clear()
        options = {"mtu": self.flags.mtu, "ip_version": self.flags.header} | options
        c = Connection(self.settings, options, passive, {"preset": self.preset} | self.changes)
        port = options.get("IP_LOCAL_PORT_RANGE")
        c.port = port if isinstance(port, int) else 0
        c.echo = echo
        c.cookies, c.asked, c.listener = self.cookies, asked, listener
        c.start(self.now)
        self.connection = c
        self.connections.append(c)
        self.note_sent()
        return c

    def port_free(self, options: dict[str, Any]) -> tuple[bool, int]:
        """Returns true if a connection may begin at a bound port, and the timestamp it continues from (tcp_twsk_unique)."""
        port = options.get("IP_LOCAL_PORT_RANGE") or 0
        if not port or port >> 16 != port & 0xFFFF:
            return True, 0
        reuse, delay = self.settings.number("tcp_tw_reuse") == 1, self.settings.number("tcp_tw_reuse_delay")
        for c in reversed(self.connections):
            if c.port == port and c.waits_since is not None and not c.dead and self.now < c.waits_since + TIME_WAIT:
                if not reuse or c.waiting_stamp is None or self.now <= c.waits_since + delay * 1000 * PS:
                    return False, 0
                c.dead = True
                return True, c.waiting_stamp
        return True, 0

    def algorithm(self, name: str) -> bool:
        """Returns true if a congestion control of this name exists."""
        try:
            _core.TcpEndpoint(json.dumps({"preset": self.preset, "cc": name}), False)
        except FairlaneError:
            return False
        return True

    def complain(self, failure: ScriptFailure) -> None:
        """Reports a failure that --non_fatal ignores."""
        self.settings.warn(f"ignored by --non_fatal: {failure}")

    def change_algorithm(self, c: Connection, call: Syscall) -> None:
        """Executes setsockopt(TCP_CONGESTION) on an open connection, possible before data is sent."""
        view = c.view()
        if not c.established or view["nxt"] > 1 or c.written:
            self.settings.warn("TCP_CONGESTION has no effect here after data was sent")
            return
        c.core.change_algorithm(self.now, json.dumps(c.parameters())) if hasattr(c.core, "change_algorithm") else None

    def inject(self, event: Inject) -> None:
        """Processes an arriving packet."""
        packet = event.packet
        self.say(f" <   {show(packet)}")
        if packet.icmp is not None and self.connection is not None and while_opening(self.connection, self.now, packet):
            self.settle()
            return
        if packet.icmp is not None:
            self.settings.warn("ICMP messages have no effect here")
            return
        for name, what in {"md5": "the MD5 option", "ECN": "the AccECN option"}.items():
            if any(o[0] == name for o in packet.options or ()):
                self.settings.warn(f"{what} is not simulated: ignored")
        if packet.has("S") and not packet.has("."):
            listener = next((s for s in self.calls.sockets.values() if s.listening), None)
            c = self.connection
            fresh = c is None or c.dead or (c.was_established and c.closed) or (c.passive and c.listener is not listener)
            if listener is not None and fresh:
                c = self.open(listener.options, passive=True, listener=listener)
                early = sum(x.listener is listener and x.early and not x.dead for x in self.connections)
                c.takes_data = early < listener.fast_limit
                listener.queue.append(c)
        if self.connection is None:
            raise self.failure(event.line, "a packet arrives, and no socket listens or connects")
        self.connection.measure(packet.length, self.flags.mss)
        self.connection.inject(self.now, packet)
        self.settle()

    def code(self, event: Code) -> None:
        """Runs Python code of the script, with the tcpi_ values of the connection."""
        c = self.connection
        if c is not None and c.core is not None:
            self.space.update(tcp_info(c, self.now))
        text = textwrap.dedent(event.text) if event.text.lstrip(" \t").startswith("\n") else event.text.strip()
        try:
            with redirect_stdout(self.printed):
                exec(compile("\n" * (event.line - 1) + text + "\n\n", self.script.file, "exec"), self.space)
        except KeyboardInterrupt:
            raise
        except BaseException as e:  # SystemExit is a failure of this line as well
            line = event.line
            for frame in traceback.extract_tb(e.__traceback__):
                if frame.filename == self.script.file and frame.lineno:
                    line = frame.lineno
            if isinstance(e, SyntaxError) and e.lineno:
                line = e.lineno
            lines = self.script.text.split("\n")
            shown = lines[line - 1].strip() if line <= len(lines) else ""
            reason = f": {e}" if str(e) else ""
            raise self.failure(line, f"{type(e).__name__}{reason}\n  {shown}") from None

    # Output of --verbose.

    def say(self, text: str) -> None:
        """Adds a line to the timeline."""
        self.timeline.append(f"{self.now / 1e12:.6f} {text}")

    def note_sent(self) -> None:
        """Adds packets sent since the last call to the timeline."""
        for c in self.connections:
            for p in c.out[getattr(c, "noted", 0) :]:
                self.timeline.append(f"{p.time / 1e12:.6f}  >  {show(p)}")
            c.noted = len(c.out)  # type: ignore[attr-defined]


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
