"""Measures, defined equally on both sides, and their bounds."""

from __future__ import annotations

from validation.sides.judge import Measure, Simulator

NS3 = Simulator("ns-3", "ns3", width=24, digits=4, either=True)

MEASURES = (
    Measure("utilisation", "%", "wire bytes whose transmission began on the bottleneck / its capacity", None, 1.0),
    Measure("queue_mean", "packets", "time average of the packets in the queue discipline", 0.10, 0.05),
    Measure("drops", "packets", "packets dropped by the queue discipline", 0.15, 2.0),
    Measure("marks", "packets", "packets marked by the queue discipline", 0.15, 2.0),
    Measure("jain", "1", "Jain's index of the goodputs of the TCP flows", None, 0.03),
    Measure("queue_std", "packets", "standard deviation of the queue over time"),
    Measure("timeouts", "count", "expirations of the retransmission timer"),
    Measure("goodput_tcp", "Mbit/s", "payload delivered to the TCP receivers"),
    Measure("goodput_udp", "Mbit/s", "payload delivered to the UDP receiver"),
)
"""Everything is averaged over the whole run, from time 0."""

FLOW_SHARE = 0.05
"""Largest difference of one flow's goodput, as a share of the bottleneck's capacity."""
