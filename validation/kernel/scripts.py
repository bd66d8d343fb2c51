"""Runs packet scripts on this machine's kernel: `python -m validation.kernel.scripts [FILE.pkt...]`.

The scripts that come with fairlane claim to be right for Linux; this is where the claim is tried. A network namespace of its own has a TUN
device: packets of the script are written into it, what the kernel sends is read from it. It knows what those scripts use, no more.
Without root or /dev/net/tun it says SKIPPED and exits with 0.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import io
import os
import re
import select
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import fairlane
from fairlane.script.model import Code, Event, Expect, Inject, Name, Packet, Shell, Syscall
from fairlane.script.parser import parse
from fairlane.script.runner import CONSTANTS, DEFINES
from fairlane.script.settings import Settings
from fairlane.script.wire import differences, follows, joined, show

LOCAL, REMOTE, PORT = "192.168.0.1", "192.0.2.1", 8080
TUNSETIFF, IFF_TUN, IFF_NO_PI, CLONE_NEWNET = 0x400454CA, 1, 0x1000, 0x40000000
#: Seconds by which the kernel, or this process, may be late on a busy machine.
TOLERANCE = 0.012
_FLAGS = "FSRP.UEW"
_INFO = struct.Struct("=8B24I4Q6IQ3Q2I2Q4I")
_NAMES = """
state ca_state retransmits probes backoff options wscale app_limited rto ato snd_mss rcv_mss unacked sacked lost retrans fackets
last_data_sent last_ack_sent last_data_recv last_ack_recv pmtu rcv_ssthresh rtt rttvar snd_ssthresh snd_cwnd advmss reordering
rcv_rtt rcv_space total_retrans pacing_rate max_pacing_rate bytes_acked bytes_received segs_out segs_in notsent_bytes min_rtt
data_segs_in data_segs_out delivery_rate busy_time rwnd_limited sndbuf_limited delivered delivered_ce bytes_sent bytes_retrans
dsack_dups reord_seen rcv_ooopack snd_wnd
""".split()  # noqa: SIM905


class Differs(Exception):
    """The kernel does something else."""


def _sum(data: bytes) -> int:
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class Kernel:
    """One script on the kernel."""

    def __init__(self, path: Path) -> None:
        self.script = parse(str(path), path.read_text(), DEFINES)
        self.settings = Settings()
        if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
            raise PermissionError("a network namespace cannot be made without root")
        self.tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self.tun, TUNSETIFF, struct.pack("16sH14x", b"tun0", IFF_TUN | IFF_NO_PI))
        for words in ("link set lo up", f"addr add {LOCAL}/16 dev tun0", "link set tun0 up", f"route add {REMOTE}/32 dev tun0"):
            subprocess.run(["ip", *words.split()], check=True)
        with contextlib.suppress(OSError):  # a kernel without IPv6
            Path("/proc/sys/net/ipv6/conf/all/disable_ipv6").write_text("1")
        self.fds: dict[int, socket.socket] = {}
        self.epolls: dict[int, select.epoll] = {}
        self.local: socket.socket | None = None
        self.port = PORT
        self.ports = {"their": 4242, "our": PORT}
        self.isn_local: int | None = None
        self.isn_remote = 7_000_000
        self.queue: list[Packet] = []
        self.space: dict[str, Any] = dict(CONSTANTS)
        self.live: dict[int, int] = {}
        self.log: list[str] = []

    def now(self) -> float:
        return time.monotonic() - self.zero

    def run(self) -> None:
        begin = 0
        while isinstance(self.script.events[begin], Shell):
            self.step(self.script.events[begin], 0.0)
            begin += 1
        self.zero = time.monotonic()
        last, last_time = None, 0.0
        for event in self.script.events[begin:]:
            base = (last_time if isinstance(event, Inject) and isinstance(last, Inject) else self.now()) if event.when.relative else 0.0
            start = base + event.when.start / 1e6
            if not isinstance(event, Expect) and not event.when.any:
                while (wait := start - self.now()) > 0:
                    self.sniff(wait)
            self.step(event, start)
            last, last_time = event, start
            self.last = start

    zero = last = 0.0

    def step(self, event: Event, start: float) -> None:
        if isinstance(event, Inject):
            self.inject(event.packet)
        elif isinstance(event, Expect):
            self.expect(event, start)
        elif isinstance(event, Syscall):
            self.call(event)
        elif isinstance(event, Code):
            self.code(event)
        elif isinstance(event, Shell):
            before = dict(self.settings.values) if self.zero else {}
            flushes = self.settings.flushes
            self.settings.read(event.text, Path(self.script.file).parent)
            if self.settings.flushes != flushes:
                subprocess.run(["ip", "tcp_metrics", "flush", "all"], check=False, capture_output=True)
            for name, value in self.settings.values.items():
                if before.get(name) != value and name != "tcp_congestion_control":
                    with contextlib.suppress(FileNotFoundError):  # of another kernel
                        Path(f"/proc/sys/net/ipv4/{name}").write_text(value)

    # The wire.

    def inject(self, p: Packet) -> None:
        self.log.append(f"{self.now():.6f} <  {show(p)}")
        options = b""
        for o in p.options or ():
            if o[0] == "mss":
                options += struct.pack("!BBH", 2, 4, o[1])
            elif o[0] == "nop":
                options += b"\1"
            elif o[0] == "sackOK":
                options += b"\4\2"
            elif o[0] == "wscale":
                options += struct.pack("!BBB", 3, 3, o[1])
            elif o[0] == "TS":
                options += struct.pack("!BBII", 8, 10, o[1], self.live.get(o[2], o[2]))
            elif o[0] in ("FO", "FOEXP"):
                cookie, head = bytes.fromhex(o[1]), b"" if o[0] == "FO" else b"\xf9\x89"
                options += struct.pack("!BB", 254 if head else 34, 2 + len(head) + len(cookie)) + head + cookie
            elif o[0] == "sack":
                options += struct.pack("!BB", 5, 2 + 8 * len(o[1:]))
                for block in o[1:]:
                    options += struct.pack("!II", *((x + (self.isn_local or 0)) & 0xFFFFFFFF for x in block))
        if p.has("S"):
            self.isn_remote = 7_000_000
        options += b"\0" * (-len(options) % 4)
        flags = sum(1 << "FSRP.UEW".index(x) for x in p.flags if x in _FLAGS)
        ack = (p.ack + (self.isn_local or 0)) & 0xFFFFFFFF if p.ack is not None else 0
        head = struct.pack(
            "!HHIIBBHHH", self.ports["their"], self.ports["our"], (p.seq + self.isn_remote) & 0xFFFFFFFF, ack,
            (20 + len(options)) << 2, flags, p.win or 0, 0, 0,
        )  # fmt: skip
        body = head + options + b"x" * p.length
        pseudo = socket.inet_aton(REMOTE) + socket.inet_aton(LOCAL) + struct.pack("!BBH", 0, 6, len(body))
        body = body[:16] + struct.pack("!H", _sum(pseudo + body)) + body[18:]
        tos = {"ect0": 2, "ect1": 1, "ce": 3}.get(p.ecn or "", 0)
        ip = struct.pack("!BBHHHBBH", 0x45, tos, 20 + len(body), 0, 0x4000, 64, 6, 0) + socket.inet_aton(REMOTE) + socket.inet_aton(LOCAL)
        ip = ip[:10] + struct.pack("!H", _sum(ip)) + ip[12:]
        os.write(self.tun, ip + body)

    def sniff(self, wait: float) -> None:
        """Reads what leaves within `wait` seconds."""
        if not select.select([self.tun], [], [], max(0.0, wait))[0]:
            return
        try:
            raw = os.read(self.tun, 70_000)
        except BlockingIOError:
            return
        if raw[0] >> 4 != 4 or raw[9] != 6:
            return
        tcp = raw[20:]
        src, dst, seq, ack, offset, flags, win = struct.unpack_from("!HHIIBBH", tcp)
        p = Packet(time=round(self.now() * 1e12), win=win, ecn=("noecn", "ect1", "ect0", "ce")[raw[1] & 3])
        letters = "".join(x for i, x in enumerate(_FLAGS) if flags >> i & 1)
        p.flags = "".join(x for x in "SFRPUEWAN." if x in letters)
        if p.has("S"):
            self.isn_local = seq
            self.ports = {"our": src, "their": dst}
        p.seq = (seq - (self.isn_local or 0)) & 0xFFFFFFFF
        if p.has("."):
            p.ack = (ack - self.isn_remote) & 0xFFFFFFFF
        header = (offset >> 4) * 4
        p.length = len(tcp) - header
        p.options = self.options(tcp[20:header])
        self.log.append(f"{self.now():.6f}  > {show(p)}")
        self.queue.append(p)

    def options(self, raw: bytes) -> tuple[tuple[Any, ...], ...]:
        out: list[tuple[Any, ...]] = []
        at = 0
        while at < len(raw):
            kind = raw[at]
            if kind in (0, 1):
                out.append(("nop" if kind else "eol",))
                at += 1
                continue
            size = raw[at + 1]
            data = raw[at + 2 : at + size]
            at += size
            if kind == 2:
                out.append(("mss", struct.unpack("!H", data)[0]))
            elif kind == 3:
                out.append(("wscale", data[0]))
            elif kind == 4:
                out.append(("sackOK",))
            elif kind == 5:
                edges = [(x - self.isn_remote) & 0xFFFFFFFF for x in struct.unpack(f"!{len(data) // 4}I", data)]
                out.append(("sack", *zip(edges[::2], edges[1::2], strict=True)))
            elif kind == 8:
                out.append(("TS", *struct.unpack("!II", data)))
            elif kind == 34:
                out.append(("FO", data.hex()))
            elif kind == 254 and data[:2] == b"\xf9\x89":
                out.append(("FOEXP", data[2:].hex()))
        return tuple(out)

    def expect(self, event: Expect, start: float) -> None:
        want = event.packet
        end = start if event.when.end is None else event.when.end / 1e6 + start - event.when.start / 1e6
        tolerance = max(TOLERANCE, (start - self.last) / 20)
        limit = self.now() + 60 if event.when.any else end + tolerance
        pieces: list[Packet] = []
        while True:
            while self.queue and (not pieces or (sum(p.length for p in pieces) < want.length and follows(pieces, self.queue[0]))):
                pieces.append(self.queue.pop(0))
            if pieces and (self.queue or sum(p.length for p in pieces) >= want.length):
                break
            left = limit - self.now()
            if left < -0.01:
                break
            self.sniff(max(left, 0.0))
        where = f"{self.script.file}:{event.line}"
        if not pieces:
            raise Differs(f"{where}: nothing left by {limit:.6f}: {show(want)}")
        actual = joined(pieces)
        if len(pieces) > 1 and "P" in want.flags:
            actual.flags = "".join(x for x in "SFRPUEWAN." if x in actual.flags or x == "P")
        scripted = next((o[1] for o in want.options or () if o[0] == "TS"), None)
        live = next((o[1] for o in actual.options or () if o[0] == "TS"), None)
        if scripted is not None and live is not None:
            self.live[scripted] = live
        if wrong := differences(want, actual):
            raise Differs(f"{where}: {'; '.join(wrong)}\n  script packet: {show(want)}\n  actual packet: {show(actual)}")
        at = actual.time / 1e12
        if not event.when.any and not start - tolerance <= at <= end + tolerance:
            raise Differs(f"{where}: left at {at:.6f}, expected {start:.6f}~{end:.6f}: {show(want)}")

    # The application.

    def call(self, event: Syscall) -> None:
        name, args, want = event.name, event.args, event.result
        where = f"{self.script.file}:{event.line}"
        self.log.append(f"{self.now():.6f}    {name}")
        try:
            value = getattr(self, f"do_{name}")(event, args)
        except OSError as e:
            if want == -1 and errno.errorcode.get(e.errno or 0) == event.errno:
                return
            raise Differs(f"{where}: {name}: {e}") from None
        if isinstance(want, int) and value is not None and value != want:
            raise Differs(f"{where}: {name} returned {value}, expected {want}")

    def do_socket(self, event: Syscall, args: Any) -> None:
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # A namespace may not have every algorithm as its default; a socket of root's may have any.
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, self.settings.values["tcp_congestion_control"].encode())
        self.fds[event.result] = s

    def do_bind(self, event: Syscall, args: Any) -> None:
        self.fds[args[0]].bind((LOCAL, PORT))

    def do_listen(self, event: Syscall, args: Any) -> None:
        self.fds[args[0]].listen(args[1] if len(args) > 1 and isinstance(args[1], int) else 1)
        # Another connection than that of a listener before.
        self.ports = {"their": self.ports["their"] + 1, "our": PORT}

    def do_accept(self, event: Syscall, args: Any) -> None:
        self.fds[args[0]].settimeout(0.5)
        s = self.fds[event.result] = self.local = self.fds[args[0]].accept()[0]
        s.setblocking(False)

    def do_fcntl(self, event: Syscall, args: Any) -> None:
        self.fds[args[0]].setblocking(False)

    def do_connect(self, event: Syscall, args: Any) -> None:
        self.local = self.fds[args[0]]
        self.local.connect((REMOTE, PORT))

    def do_write(self, event: Syscall, args: Any) -> int:
        return self.fds[args[0]].send(b"x" * args[2])

    def flags(self, value: Any) -> int:
        """Constants of <sys/socket.h> and <sys/epoll.h>, joined."""
        parts = value if isinstance(value, tuple) else (value,)
        return sum(p if isinstance(p, int) else getattr(socket, str(p), 0) or getattr(select, str(p), 0) for p in parts)

    def do_send(self, event: Syscall, args: Any) -> int:
        return self.fds[args[0]].send(bytes(args[2]), self.flags(args[3]))

    def do_sendto(self, event: Syscall, args: Any) -> int:
        s = self.local = self.fds[args[0]]
        return s.sendto(b"x" * args[2], self.flags(args[3]), (REMOTE, PORT))

    def do_poll(self, event: Syscall, args: Any) -> int:
        poll = select.poll()
        for entry in args[0]:
            poll.register(self.fds[entry.fields["fd"]], self.flags(entry.fields["events"]))
        return len(poll.poll(args[2]))

    def do_epoll_create(self, event: Syscall, args: Any) -> None:
        self.epolls[event.result] = select.epoll()

    def do_epoll_ctl(self, event: Syscall, args: Any) -> None:
        how = {"EPOLL_CTL_ADD": "register", "EPOLL_CTL_MOD": "modify"}[str(args[1])]
        getattr(self.epolls[args[0]], how)(self.fds[args[2]], self.flags(args[3].fields["events"]))

    def do_epoll_wait(self, event: Syscall, args: Any) -> int:
        found = self.epolls[args[0]].poll(args[3] / 1000, args[2])
        wanted = self.flags(args[1].fields["events"])
        if found and found[0][1] != wanted:
            raise Differs(f"{self.script.file}:{event.line}: events {found[0][1]:#x}, expected {wanted:#x}")
        return len(found)

    def do_read(self, event: Syscall, args: Any) -> int:
        return len(self.fds[args[0]].recv(args[2]))

    def do_close(self, event: Syscall, args: Any) -> None:
        self.fds[args[0]].close()

    def do_shutdown(self, event: Syscall, args: Any) -> None:
        self.fds[args[0]].shutdown(socket.SHUT_WR)

    def do_setsockopt(self, event: Syscall, args: Any) -> None:
        level = socket.SOL_SOCKET if args[1] == Name("SOL_SOCKET") else socket.IPPROTO_TCP
        value = args[3][0] if isinstance(args[3], list) else args[3]
        option = (
            getattr(socket, str(args[2]), None)
            or {"TCP_FASTOPEN_CONNECT": 30, "TCP_FASTOPEN_KEY": 33, "TCP_FASTOPEN_NO_COOKIE": 34}[str(args[2])]
        )
        self.fds[args[0]].setsockopt(
            level, option, value.encode("latin-1").decode("unicode_escape").encode("latin-1") if isinstance(value, str) else value
        )

    def do_getsockopt(self, event: Syscall, args: Any) -> None:
        pass

    def code(self, event: Code) -> None:
        if self.local is not None:
            raw = self.local.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
            raw += b"\0" * max(0, _INFO.size - len(raw))
            self.space.update({f"tcpi_{n}": v for n, v in zip(_NAMES, _INFO.unpack_from(raw), strict=True)})
        text = re.sub(r"^\s*\n", "", event.text)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(text.strip(), self.script.file, "exec"), self.space)
        except Exception as e:
            raise Differs(f"{self.script.file}:{event.line}: {type(e).__name__}: {e}: {event.text.strip()}") from None


def _one(path: Path, verbose: bool) -> int:
    """Runs a script in this process."""
    kernel = Kernel(path)
    try:
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        kernel.run()
        print(f"ok    {path}")
        code = 0
    except Differs as e:
        print(f"FAILS {e}")
        code = 1
    if verbose:
        print("\n".join(kernel.log))
    sys.stdout.flush()
    return code


def main(arguments: list[str]) -> int:
    """Exit code: 0 all as the kernel does or skipped, 1 some differ."""
    verbose = "-v" in arguments
    names = [a for a in arguments if a != "-v"]
    paths = [Path(n) for n in names] or sorted((Path(fairlane.__file__).parent / "scripts").glob("*.pkt"))
    failed = 0
    for path in paths:
        child = os.fork()  # a namespace each
        if child == 0:
            try:
                os._exit(_one(path, verbose))
            except PermissionError as e:
                print(f"SKIPPED: {e}", flush=True)
                os._exit(0)
            except BaseException as e:
                print(f"error: {path}: {type(e).__name__}: {e}", flush=True)
                os._exit(2)
        failed += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
