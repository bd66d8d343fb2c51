"""One end of the path: a process in a network namespace of its own, with a TUN device as its only link.

Started by `machine.py` as `python -m validation.kernel.host ROLE FD`. It hands the device to the other end of the socket FD,
then sends (role a) or receives (role b) as ordered there, or runs a program, one JSON line each way.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import select
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from .tcp_info import tcp_info

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
ADDRESS = {"a": "10.77.0.1", "b": "10.77.0.2"}
PORT = 7700
#: Priorities of an application, and of the relay, which must run first.
HOST_PRIORITY, RELAY_PRIORITY = 1, 2
#: Settings that make runs repeatable: nothing is remembered of a path.
SYSCTL = {"net/ipv4/tcp_no_metrics_save": "1", "net/ipv6/conf/all/disable_ipv6": "1", "net/ipv6/conf/default/disable_ipv6": "1"}

#: A send buffer that is never empty: segments are full, whenever the application has its turn.
ROOMY = "4096 4194304 4194304"


def hurry(priority: int) -> None:
    """This thread has the processor before others (`sched(7)`), where that is allowed: what it is late would show as the path's delay."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except OSError:
        try:
            os.setpriority(os.PRIO_PROCESS, 0, -20)
        except OSError:
            pass  # The lateness that is recorded tells.


def unshare() -> None:
    """Moves this process into a new network namespace, and without root into a user namespace first."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) == 0:
        return
    uid, gid = os.getuid(), os.getgid()
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
        raise PermissionError(os.strerror(ctypes.get_errno()))
    for file, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        Path(f"/proc/self/{file}").write_text(text)


def device(role: str) -> int:
    """The TUN device, up and with its address; its file descriptor."""
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH", b"tun0", IFF_TUN | IFF_NO_PI))
    for name, value in SYSCTL.items():
        try:
            Path(f"/proc/sys/{name}").write_text(value)
        except OSError:
            pass  # A kernel without IPv6.
    other = ADDRESS["b" if role == "a" else "a"]
    for command in (
        "ip link set lo up",
        f"ip address add {ADDRESS[role]} peer {other} dev tun0",
        "ip link set tun0 mtu 1500 txqueuelen 1000 up",
    ):
        subprocess.run(command.split(), check=True, capture_output=True)
    return fd


def receive(order: dict[str, Any], listener: socket.socket) -> dict[str, Any]:
    """Takes in what arrives, until the end."""
    listener.setblocking(False)
    room = bytearray(1 << 18)
    got: dict[int, int] = {}
    conns: dict[int, socket.socket] = {listener.fileno(): listener}
    end = order["end"]
    while (left := end - time.monotonic()) > 0:
        for fd in select.select(list(conns), [], [], left)[0]:
            if fd == listener.fileno():
                s, _ = listener.accept()
                s.setblocking(False)
                conns[s.fileno()] = s
                got[s.fileno()] = 0
                continue
            try:
                taken = conns[fd].recv_into(room)
            except BlockingIOError:
                continue
            got[fd] += taken
            if not taken:
                conns.pop(fd).close()
    return {"received": sum(got.values())}


def send(order: dict[str, Any]) -> dict[str, Any]:
    """Sends without end on every flow, and looks at each every `step` seconds."""
    flows = len(order["cc"])
    block = b"\0" * (1 << 16)
    begin, end, step = order["begin"], order["end"], order["step"]
    starts = [begin + i * order["stagger"] for i in range(flows)]
    socks: list[socket.socket] = []
    rows: list[list[float]] = []
    look = begin + step
    while (now := time.monotonic()) < end:
        while len(socks) < flows and now >= starts[len(socks)]:
            s = socket.socket()
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, order["cc"][len(socks)].encode())
            s.setblocking(False)
            s.connect_ex((ADDRESS["b"], PORT))
            socks.append(s)
        wake = min([look, end, *starts[len(socks) : len(socks) + 1]])
        for s in select.select([], socks, [], max(0.0, wake - now))[1]:
            try:
                s.send(block)
            except BlockingIOError:
                pass
        if time.monotonic() >= look:
            for i, s in enumerate(socks):
                info = tcp_info(s)
                rows.append([look - begin, i, info.cwnd, info.rtt_us, info.bytes_acked, info.retransmits, info.ssthresh, info.pacing_rate])
            while look <= time.monotonic():
                look += step
    return {"rows": rows}


def run(order: dict[str, Any]) -> dict[str, Any]:
    """Runs the program of an order, which starts after so many seconds and prints its rows as JSON."""
    lead = order["begin"] - time.monotonic()
    done = subprocess.run([*order["program"], str(lead), str(order["end"] - order["begin"])], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return {"rows": json.loads(done.stdout)}


def main(role: str, fd: int) -> None:
    """Serves the orders that come through the socket `fd`."""
    link = socket.socket(fileno=fd)
    unshare()
    socket.send_fds(link, [b"device\n"], [device(role)])
    hurry(HOST_PRIORITY)
    with link.makefile("rw") as wire:
        for line in wire:
            order = json.loads(line)
            if order.get("ecn"):
                Path("/proc/sys/net/ipv4/tcp_ecn").write_text("1")
            if order.get("roomy"):
                Path("/proc/sys/net/ipv4/tcp_wmem").write_text(ROOMY)
            if order.get("program"):
                answer = run(order)
            elif role == "b":
                listener = socket.create_server((ADDRESS["b"], PORT), backlog=64)
                wire.write(json.dumps({"ready": True}) + "\n")
                wire.flush()
                answer = receive(order, listener)
            else:
                answer = send(order)
            wire.write(json.dumps(answer) + "\n")
            wire.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
