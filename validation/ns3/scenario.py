"""A case as a scenario file for fairlane and as input for `peer.cc`.

ns-3's device holds one packet below the queue disc besides the one in transmission, out of the queue disc's reach: `device` of our link.
"""

from __future__ import annotations

from .cases import PS, Case
from .queues import QUEUES

DURATION = 100
BOTTLENECK = "bottleneck"
"""Link whose queue is under test."""

_CONTROL = {
    "LinuxReno": 'cc = "reno"',
    "NewReno": 'cc = "newreno"',
}
"""Controls of ns-3 that have another name here."""


def _control(name: str) -> str:
    return _CONTROL.get(name, f'cc = "Tcp{name}"')


_ECN = ', ecn = "classic"'
"""Setting for controls that do not imply ECN."""

_RECOVERY = {"prr": 'prr = "ns3"', "classic": 'prr = "off"'}

_PLENTY = 'queue.droptail = { limit = "100000p" }'


def _fields(case: Case) -> dict[str, object]:
    size = case.size
    out = {"rate": case.rate, "delay": case.delay, "limit": size.limit, "low": size.low, "high": size.high}
    return out | {"bottom": f"{min(0.01, 8 * 1500 * 0.1 / case.rate):.6f}"}


def ours(case: Case, run: int = 1) -> str:
    """The scenario file of one run."""
    queue = QUEUES[case.queue].ours.format(**_fields(case))
    hosts = case.hosts(run)
    out = [
        f'name = "{case.title}"',
        f'duration = "{DURATION}s"',
        "",
        "[links.bottleneck]",
        'from = "r1"',
        'to = "r2"',
        f'rate = "{case.rate}bit/s"',
        f'delay = "{case.delay * 1000:g}ms"',
        'device = "1p"',
        f"queue.{queue}",
        f"reverse = {{ {_PLENTY} }}",
    ]
    for i, host in enumerate(hosts):
        for name, other, delay in ((f"s{i}", "r1", host.delay), (f"d{i}", "r2", PS // 1000)):
            out += ["", f"[links.{name}]", f'from = "{name}"', f'to = "{other}"', 'rate = "100Mbit/s"', f'delay = "{delay}ps"', _PLENTY]
    for i, host in enumerate(hosts):
        out += ["", f"[flows.f{i}]", f'from = "s{i}"', f'to = "d{i}"', f'start = "{host.start}ps"']
        if host.kind == "tcp":
            # 2 bytes of PPP are part of every header.
            tcp = 'preset = "ns3", mss = "1448B", header = "42B", receive_window = "8MiB"'
            tcp += f', {_control(case.control)}, {_RECOVERY[case.recovery]}, ack_every = {case.ack_every}, rto_min = "{case.rto_min}"'
            out.append(f"tcp = {{ {tcp}{_ECN if case.ecn else ''} }}")
        else:
            out += ['udp = { header = "30B" }', f'source.cbr = {{ rate = "{host.rate}bit/s", size = "1000B" }}']
    return "\n".join(out) + "\n"


def peer(case: Case, run: int) -> str:
    """Standard input of the ns-3 program."""
    recovery = {"prr": "TcpPrrRecovery", "classic": "TcpClassicRecovery"}[case.recovery]
    out = [
        f"rate {case.rate}",
        f"delay {case.delay}",
        f"duration {DURATION}",
        f"run {run}",
        f"tcp ns3::Tcp{case.control} ns3::{recovery} {case.ack_every} {case.rto_min}{' ecn' if case.ecn else ''}",
        "queue " + QUEUES[case.queue].peer.format(**_fields(case)),
    ]
    for host in case.hosts(run):
        line = f"flow {host.kind} {host.delay / PS!r} {host.start / PS!r}"
        out.append(line if host.kind == "tcp" else f"{line} {host.rate} 1000")
    return "\n".join(out) + "\n"
