"""Memory that a queue takes for a packet: what the heap grows by while packets arrive."""

from __future__ import annotations

import ctypes
from typing import Any

from ..base.choices import Choice, limited
from ..bench.benchmarks import memory_kib
from ..runs.network import Network

PACKETS = 60
"""Packets in each queue: few enough that most laws drop none, and a little less than a power of two, at which tables grow."""
QUEUES = 100
"""Queues, each with its flow, that are filled at once."""
_SIZES = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"


class _Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in _SIZES.split()]


def heap_bytes() -> int:
    """Returns the bytes that are allocated (mallinfo2(3) of glibc), elsewhere the resident memory of this process."""
    try:
        mallinfo = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError, TypeError):
        return memory_kib("VmRSS") * 1024
    mallinfo.restype = _Mallinfo
    found = mallinfo()
    return int(found.uordblks + found.hblkhd)


def packet_bytes(queue: dict[str, Any]) -> tuple[float, float]:
    """Returns the bytes that each packet in a queue takes, and how many of `PACKETS` packets a queue kept."""
    net = Network(duration="100ms")
    filled = limited(Choice("", queue), f"{4 * PACKETS}p")
    for i in range(QUEUES):
        net.link(f"a{i}", f"b{i}", name=f"line{i}", rate="1Mbit/s", delay="1ms", queue=filled, reverse={"queue": "droptail"})
    # A packet of 100 bytes each 0.8 us, at a link that needs 1 ms for it.
    cbr = {"cbr": {"rate": "1Gbit/s", "size": "100B"}}
    net.flow("burst", "a{i}", "b{i}", count=QUEUES, udp={}, source=cbr)
    sim = net.start(seed=1)

    def kept() -> int:
        return sum(sim.links[f"line{i}"].queue.packets for i in range(QUEUES))

    sim.advance(to="1700ns")
    few, before = kept(), heap_bytes()
    sim.advance(to=f"{800 * PACKETS}ns")
    grown, many = heap_bytes() - before, kept()
    return grown / max(1, many - few), many / QUEUES
