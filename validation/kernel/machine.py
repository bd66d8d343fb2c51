"""Runs a case on the kernel: two namespaces, and between them our queue in real time."""

from __future__ import annotations

import ctypes
import json
import os
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
from .host import RELAY_PRIORITY, hurry

PR_SET_TIMERSLACK = 29
#: Seconds between two looks at a socket.
STEP = 0.01
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
        """Returns the host's answer."""
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


def run(case: Case, number: int = 1, capture: bool = False, roomy: bool = False) -> dict[str, Any]:
    """Runs the kernel's TCP; returns rows of (time, flow, cwnd, rtt, bytes acked...) and the counters of the queue.

    Raises KernelMissing if the namespaces cannot be made or the kernel lacks the algorithm.
    """
    for cc in case.cc:
        if cc not in algorithms():
            raise KernelMissing(f"this kernel has no {cc} (modprobe tcp_{cc})")
    resolved = _core.resolve(case.scenario(number), f"{case.name}.toml", "toml", [])
    with _hosts() as (a, b):
        begin = time.monotonic() + LEAD
        order = {"begin": begin, "end": begin + case.seconds, "step": STEP, "cc": case.cc}
        order |= {"stagger": case.stagger_ms / 1000, "ecn": case.ecn, "roomy": roomy}
        b.tell(**order)
        b.answer()
        a.tell(**order)
        found = _relay(resolved, number, (a.tun, b.tun), begin, begin + case.seconds, capture)
        return found | a.answer() | b.answer()


def run_programs(resolved: _core.Resolved, number: int, programs: tuple[list[str], list[str]], seconds: float) -> dict[str, Any]:
    """Runs a program at each end of the path, which gets two more arguments: after how many seconds it starts, and how long it runs.

    Returns what the programs print (`sender`, `receiver`), the lateness of the relay, and the counters of the queue.
    """
    with _hosts() as hosts:
        begin = time.monotonic() + LEAD
        for host, program in zip(hosts, programs, strict=True):
            host.tell(begin=begin, end=begin + seconds, program=program)
        a, b = hosts
        found = _relay(resolved, number, (a.tun, b.tun), begin, begin + seconds, False)
        return found | {"sender": a.answer()["rows"], "receiver": b.answer()["rows"]}


@contextmanager
def _hosts() -> Iterator[tuple[Host, Host]]:
    """Both ends of the path, ended afterwards."""
    hosts: list[Host] = []
    try:
        for role in "ab":
            hosts.append(Host(role))
        yield hosts[0], hosts[1]
    finally:
        for host in hosts:
            host.close()


def _relay(resolved: _core.Resolved, seed: int, tuns: tuple[int, int], begin: float, end: float, capture: bool) -> dict[str, Any]:
    """Carries packets between two devices until `end`; what it was late, and the counters of the queue."""
    a, b = tuns
    there, back = (_core.LiveLink(resolved, name, seed) for name in ("bottleneck", "bottleneck.reverse"))
    since = time.monotonic()
    with _relay_first():
        carried = _core.relay([(there, a, b), (back, b, a)], since, end, capture)
    span = int((end - since) * 1e12)
    return {**carried, "queue": there.counters(), "queue_mean": there.queue_mean(span) * span / (end - begin) / 1e12}


@contextmanager
def _relay_first() -> Iterator[None]:
    """The relay's thread before the applications, and these before everything else."""
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1)
    hurry(RELAY_PRIORITY)
    try:
        yield
    finally:
        try:
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        except OSError:
            pass  # It was never raised.
