"""Each queue in the words of ns-3 and in ours.

ns-3's class defaults are our presets named ``ns3``; other values of a case are set on both sides.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Queue:
    """One queue on both sides."""

    peer: str
    """ns-3 class and attributes, as `peer.cc` reads them; {rate}, {delay} and the fields of `Size` are filled in"""
    ours: str
    """what follows ``queue.`` in a scenario file; the same fields are filled in"""
    chance: bool = True
    """whether it draws random numbers"""


@dataclass(frozen=True)
class Size:
    """Values of the queues that go with the network."""

    limit: int = 100
    low: int = 10
    high: int = 30


_RED_PEER = "ns3::RedQueueDisc MaxSize={limit}p MeanPktSize=1500 LinkBandwidth={rate}bps LinkDelay={delay}s "
_RED_OURS = 'preset = "ns3", limit = "{limit}p", mean_packet = "1500B"'
_THRESHOLDS = 'min = "{low}p", max = "{high}p", w_q = 0.002'
_BOTTOM = "bottom = {bottom}"
"""ns-3 works the lower bound of max_p out from rate and packet size; see docs/validation/ns3.md."""

QUEUES: dict[str, Queue] = {
    "fifo": Queue("ns3::FifoQueueDisc MaxSize=50p", 'droptail = {{ limit = "50p" }}', chance=False),
    "short": Queue("ns3::FifoQueueDisc MaxSize={limit}p", 'droptail = {{ limit = "{limit}p" }}', chance=False),
    "fifo100": Queue("ns3::FifoQueueDisc MaxSize=100p", 'droptail = {{ limit = "100p" }}', chance=False),
    "red": Queue(_RED_PEER + "MinTh={low} MaxTh={high} QW=0.002", f"red = {{{{ {_RED_OURS}, {_THRESHOLDS} }}}}"),
    "redmark": Queue(
        _RED_PEER + "MinTh={low} MaxTh={high} QW=0.002 UseEcn=true UseHardDrop=false",
        f"red = {{{{ {_RED_OURS}, {_THRESHOLDS}, ecn = true, hard_drop = false }}}}",
    ),
    "step": Queue(
        _RED_PEER + "MinTh={low} MaxTh={high} QW=1 Gentle=false UseEcn=true UseHardDrop=false",
        f'red = {{{{ {_RED_OURS}, min = "{{low}}p", max = "{{high}}p", w_q = 1.0, gentle = false, ecn = true, hard_drop = false }}}}',
        chance=False,
    ),
    "ared": Queue(_RED_PEER + "ARED=true", f"ared = {{{{ {_RED_OURS}, {_BOTTOM} }}}}"),
    "redadapt": Queue(
        _RED_PEER + "MinTh={low} MaxTh={high} QW=0.002 AdaptMaxP=true", f"ared = {{{{ {_RED_OURS}, {_THRESHOLDS}, {_BOTTOM} }}}}"
    ),
    "pie": Queue("ns3::PieQueueDisc", 'pie = {{ preset = "ns3" }}'),
    "pie1000": Queue("ns3::PieQueueDisc MaxSize=1000p", 'pie = {{ preset = "ns3", limit = "1000p" }}'),
    "codel": Queue("ns3::CoDelQueueDisc", 'codel = {{ preset = "ns3" }}', chance=False),
    "fqcodel": Queue("ns3::FqCoDelQueueDisc UseEcn=false", 'fq_codel = {{ preset = "ns3", ecn = false }}', chance=False),
    "codelmark": Queue("ns3::CoDelQueueDisc UseEcn=true", 'codel = {{ preset = "ns3", ecn = true }}', chance=False),
    "fqcodelmark": Queue("ns3::FqCoDelQueueDisc UseEcn=true", 'fq_codel = {{ preset = "ns3", ecn = true }}', chance=False),
    "cobalt": Queue("ns3::CobaltQueueDisc", 'cobalt = {{ preset = "ns3" }}'),
    "fqpie": Queue("ns3::FqPieQueueDisc UseEcn=false", 'fq_pie = {{ preset = "ns3", ecn = false }}'),
}

MARKING = ("redmark", "step", "codelmark", "fqcodelmark")
"""Queues that mark, for the families `ecn` and `dctcp`."""
