"""A case as a scenario file for fairlane and as input for `peer.cc`.

ns-3's device holds one packet below the queue disc besides the one in transmission, out of the queue disc's reach. Here
that place is a link of its own: the link `queue` (with the queue under test, the bottleneck's rate, no delay) leads to a
node `device`, and the link `bottleneck` from there has the same rate. While the queue is busy the packet on `queue` is
the one in ns-3's device and the packet on `bottleneck` the one in transmission, and the queue under test is served at
the same instants on both sides. Where a delay of one more transmission would count as
queueing (N1: Vegas, BBR) that packet waits in the queue instead, which holds one more.
"""

from __future__ import annotations

import re

from .cases import PS, Case
from .queues import QUEUES

DURATION = 100
DELAY = 0.02
WATCHED = "queue"
"""Link whose queue is under test."""
BOTTLENECK = "bottleneck"
"""Link whose utilisation is measured."""

_CONTROL = {
    "LinuxReno": 'cc = "reno", byte_counting = 1000',
    "NewReno": 'cc = "reno", byte_counting = 1',
    "Cubic": 'cc = "cubic"',
    "Vegas": 'cc = "vegas"',
    "Bbr": 'cc = "bbr"',
    # ns-3's DCTCP sends pure acknowledgments and retransmissions with ECT, too.
    "Dctcp": 'cc = "dctcp", byte_counting = 1000, ecn_plus = true',
}
"""What each of ns-3's congestion controls is on our side, besides the preset."""

_ECN = ', ecn = "classic"'
"""What the control does not imply by itself."""

_RECOVERY = {"prr": 'prr = "crb"', "classic": 'prr = "off"'}

_PLENTY = 'queue.droptail = { limit = "100000p" }'


def _fields(case: Case) -> dict[str, object]:
    size = case.size
    out = {"rate": case.rate, "delay": DELAY, "limit": size.limit, "low": size.low, "high": size.high}
    return out | {"bottom": f"{min(0.01, 8 * 1500 * 0.1 / case.rate):.6f}"}


def ours(case: Case, run: int = 1) -> str:
    """The scenario file of one run."""
    queue = QUEUES[case.queue].ours.format(**_fields(case))
    beyond = f"{case.rate}bit/s"
    if not case.device:
        queue = re.sub(r"(\d+)p", lambda found: f"{int(found[1]) + 1}p", queue)
        beyond = "100Gbit/s"
    hosts = case.hosts(run)
    out = [
        f'name = "{case.title}"',
        f'duration = "{DURATION}s"',
        "",
        "[links.queue]",
        'from = "r1"',
        'to = "device"',
        f'rate = "{case.rate}bit/s"',
        'delay = "0s"',
        f"queue.{queue}",
        # Acknowledgments cross the bottleneck once.
        f'reverse = {{ rate = "100Gbit/s", {_PLENTY} }}',
        "",
        "[links.bottleneck]",
        'from = "device"',
        'to = "r2"',
        f'rate = "{beyond}"',
        'delay = "20ms"',
        _PLENTY,
    ]
    for i, host in enumerate(hosts):
        for name, other, delay in ((f"s{i}", "r1", host.delay), (f"d{i}", "r2", PS // 1000)):
            out += ["", f"[links.{name}]", f'from = "{name}"', f'to = "{other}"', 'rate = "100Mbit/s"', f'delay = "{delay}ps"', _PLENTY]
    for i, host in enumerate(hosts):
        out += ["", f"[flows.f{i}]", f'from = "s{i}"', f'to = "d{i}"', f'start = "{host.start}ps"']
        if host.kind == "tcp":
            # 2 bytes of PPP are part of every header.
            tcp = 'preset = "ns3", mss = "1448B", header = "42B", receive_window = "8MiB"'
            tcp += f', {_CONTROL[case.control]}, {_RECOVERY[case.recovery]}, ack_every = {case.ack_every}, rto_min = "{case.rto_min}"'
            out.append(f"tcp = {{ {tcp}{_ECN if case.ecn else ''} }}")
        else:
            out += ['udp = { header = "30B" }', f'source.cbr = {{ rate = "{host.rate}bit/s", size = "1000B" }}']
    return "\n".join(out) + "\n"


def peer(case: Case, run: int) -> str:
    """Standard input of the ns-3 program."""
    recovery = {"prr": "TcpPrrRecovery", "classic": "TcpClassicRecovery"}[case.recovery]
    out = [
        f"rate {case.rate}",
        f"delay {DELAY}",
        f"duration {DURATION}",
        f"run {run}",
        f"tcp ns3::Tcp{case.control} ns3::{recovery} {case.ack_every} {case.rto_min}{' ecn' if case.ecn else ''}",
        "queue " + QUEUES[case.queue].peer.format(**_fields(case)),
    ]
    for host in case.hosts(run):
        line = f"flow {host.kind} {host.delay / PS!r} {host.start / PS!r}"
        out.append(line if host.kind == "tcp" else f"{line} {host.rate} 1000")
    return "\n".join(out) + "\n"
