"""Runs a case on the kernel: two namespaces, and between them our queue in real time."""

from __future__ import annotations

import ctypes
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fairlane import _core

from .cases import Case

PR_SET_TIMERSLACK = 29
#: Seconds between two looks at a socket.
STEP = 0.05
#: Seconds for both ends to get ready.
LEAD = 0.3


class KernelMissing(RuntimeError):
    """This machine cannot run the kernel's side; the text says why."""


class Host:
    """A process in a network namespace of its own, and the TUN device that is its only link."""

    def __init__(self, role: str) -> None:
        ours, theirs = socket.socketpair()
        root = str(Path(__file__).resolve().parents[2])
        environment = {**os.environ, "PYTHONPATH": root}
        command = [sys.executable, "-m", "validation.kernel.host", role, str(theirs.fileno())]
        self.process = subprocess.Popen(command, pass_fds=[theirs.fileno()], cwd=root, env=environment, stderr=subprocess.PIPE, text=True)
        theirs.close()
        ours.settimeout(20)
        try:
            _, fds, _, _ = socket.recv_fds(ours, 16, 1)
        except TimeoutError:
            fds = []
        if not fds:
            self.process.kill()
            words = (self.process.communicate()[1] or "no answer").strip().splitlines()
            raise KernelMissing(words[-1])
        ours.settimeout(None)
        self.tun = fds[0]
        self.wire = ours.makefile("rw")

    def tell(self, **order: Any) -> None:
        """Gives an order."""
        self.wire.write(json.dumps(order) + "\n")
        self.wire.flush()

    def answer(self) -> dict[str, Any]:
        """What it found."""
        line = self.wire.readline()
        if not line:
            raise KernelMissing((self.process.communicate()[1] or "it ended").strip().splitlines()[-1])
        found: dict[str, Any] = json.loads(line)
        return found

    def close(self) -> None:
        """Ends it."""
        self.wire.close()
        os.close(self.tun)
        self.process.terminate()
        self.process.wait()
        if self.process.stderr:
            self.process.stderr.close()


def algorithms() -> list[str]:
    """The congestion controls this kernel has."""
    try:
        return Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    except OSError as error:
        raise KernelMissing(f"this is not Linux ({error})") from error


def check() -> None:
    """Raises KernelMissing where the kernel's side cannot run."""
    algorithms()
    if not Path("/dev/net/tun").exists():
        raise KernelMissing("/dev/net/tun is missing")
    if shutil.which("ip") is None:
        raise KernelMissing("`ip` is missing (Debian: apt-get install iproute2)")


def run(case: Case, seed: int = 1) -> dict[str, Any]:
    """What the kernel's TCP does: rows of (time, flow, cwnd, rtt, bytes acked...) and the counters of the queue.

    Raises KernelMissing if the namespaces cannot be made or the kernel lacks the algorithm.
    """
    if case.cc not in algorithms():
        raise KernelMissing(f"this kernel has no {case.cc} (modprobe tcp_{case.cc})")
    resolved = _core.resolve(case.scenario(), f"{case.name}.toml", "toml", [])
    hosts: list[Host] = []
    try:
        for role in "ab":
            hosts.append(Host(role))
        begin = time.monotonic() + LEAD
        order = {"begin": begin, "end": begin + case.seconds, "step": STEP, "cc": case.cc}
        order |= {"flows": case.flows, "stagger": 0.1, "ecn": case.ecn}
        a, b = hosts
        b.tell(**order)
        b.answer()
        a.tell(**order)
        with _hurry():
            found = _relay(resolved, a.tun, b.tun, begin + case.seconds, seed)
        return found | a.answer() | b.answer()
    finally:
        for host in hosts:
            host.close()


def _relay(resolved: _core.Resolved, a: int, b: int, end: float, seed: int) -> dict[str, Any]:
    """Carries packets between two devices until `end`."""
    there, back = _core.LiveLink(resolved, "bottleneck", seed), _core.LiveLink(resolved, "bottleneck.reverse", seed)
    ways = {a: (there, b), b: (back, a)}
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1)
    zero, late = time.monotonic_ns(), 0
    finish = int(end * 1e9) - zero
    while (now := time.monotonic_ns() - zero) < finish:
        deadlines = [t for link, _ in ways.values() if (t := link.next()) is not None]
        wait = min([*deadlines, finish * 1000]) / 1e3 - now
        readable = select.select([a, b], [], [], max(0.0, wait) * 1e-9)[0]
        now = (time.monotonic_ns() - zero) * 1000
        if deadlines:
            late = max(late, now - min(deadlines))
        for tun in readable:
            link = ways[tun][0]
            while packet := _read(tun):
                link.offer(now, packet)
        for link, out in ways.values():
            for packet in link.take(now):
                _write(out, packet)
    at = finish * 1000
    return {"queue": there.counters(), "queue_mean": there.queue_mean(at), "late_us": late / 1e6}


@contextmanager
def _hurry() -> Iterator[None]:
    """Has the processor before others, where that is allowed: lateness would show as delay."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        yield
        return
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def _read(tun: int) -> bytes:
    try:
        return os.read(tun, 2048)
    except BlockingIOError:
        return b""


def _write(tun: int, packet: bytes) -> None:
    try:
        os.write(tun, packet)
    except OSError:
        pass  # The device takes no more, or the far end is gone: lost, as on a wire.
