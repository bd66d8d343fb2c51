"""Measurements on a terminal, a line as soon as one is done."""

from __future__ import annotations

from typing import Any

SCENARIOS = f"{'scenario':<9}{'packet-hops':>13}{'events':>13}{'cpu s':>9}{'ns/hop':>9}{'set-up s':>10}{'peak MiB':>10}"
QUEUES = f"{'queue':<14}{'ns a packet':>12}{'drops':>10}{'P1 ns/hop':>11}{'ratio':>8}"
"""Headings."""


def scenario_row(r: dict[str, Any]) -> str:
    """A scenario of the benchmark set."""
    return (
        f"{r['scenario']:<9}{r['packet_hops']:>13}{r['events']:>13}{r['cpu_s']:>9.3f}{r['ns_per_packet_hop']:>9.1f}"
        f"{r['setup_s']:>10.3f}{r['peak_rss_mib']:>10.1f}"
    )


def queue_row(r: dict[str, Any]) -> str:
    """A queue, alone and at the bottleneck of P1."""
    if r["ns"] is None:
        return f"{r['queue']:<14}{'needs parameters':>18}"
    return f"{r['queue']:<14}{r['ns']:>12.1f}{r['drops']:>10}{r['hop_ns']:>11.1f}{r['hop_ratio']:>8.2f}"
