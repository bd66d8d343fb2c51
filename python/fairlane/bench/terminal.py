"""Measurements on a terminal, one line each, wrapped on a narrow terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_SCENARIOS = (("packet-hops", 13), ("events", 13), ("cpu s", 9), ("ns/hop", 9), ("set-up s", 10), ("peak MiB", 10))
_QUEUES = (("ns a packet", 12), ("drops", 10), ("P1 ns/hop", 11), ("ratio", 8))
_AGAINST = (("ours ns/hop", 13), ("peer ns/hop", 13), ("ratio", 8), ("least", 8), ("greatest", 10))
_GROWTH = (("smallest", 14), ("ns/hop", 9), ("", 14), ("ns/hop", 9), ("greatest", 14), ("ns/hop", 9), ("ratio", 8))
_NAMES = {"scenario": 9, "queue": 14, "case": 18}


def _lines(name: str, label: str, columns: Sequence[tuple[str, int]], cells: Sequence[str], width: int) -> str:
    """Returns the cells in columns, wrapped to the width."""
    first = _NAMES[label]
    lines, line = [], f"{name:<{first}}"
    for (_, wide), cell in zip(columns, cells, strict=True):
        if len(line) + wide > width and len(line) > first:
            lines.append(line)
            line = " " * first
        line += f"{cell:>{wide}}"
    return "\n".join([*lines, line])


def scenario_heads(width: int) -> str:
    """Returns the headings of `scenario_row`."""
    return _lines("scenario", "scenario", _SCENARIOS, [head for head, _ in _SCENARIOS], width)


def queue_heads(width: int) -> str:
    """Returns the headings of `queue_row`."""
    return _lines("queue", "queue", _QUEUES, [head for head, _ in _QUEUES], width)


def scenario_row(r: dict[str, Any], width: int) -> str:
    """Returns the row of a benchmark scenario."""
    cells = [str(r["packet_hops"]), str(r["events"]), f"{r['cpu_s']:.3f}", f"{r['ns_per_packet_hop']:.1f}", f"{r['setup_s']:.3f}"]
    return _lines(r["scenario"], "scenario", _SCENARIOS, [*cells, f"{r['peak_rss_mib']:.1f}"], width)


def queue_row(r: dict[str, Any], width: int) -> str:
    """Returns the row of a queue, alone and at the bottleneck of P1."""
    if r["ns"] is None:
        return f"{r['queue']:<14}{'needs parameters':>18}"
    return _lines(r["queue"], "queue", _QUEUES, [f"{r['ns']:.1f}", str(r["drops"]), f"{r['hop_ns']:.1f}", f"{r['hop_ratio']:.2f}"], width)


def against_heads(width: int) -> str:
    """Returns the headings of `against_row`."""
    return _lines("scenario", "scenario", _AGAINST, [head for head, _ in _AGAINST], width)


def against_row(r: dict[str, Any], width: int) -> str:
    """Returns the row of a scenario with another simulator: medians over the pairs, and the range of the ratio."""
    cells = [f"{r[k]:.1f}" for k in ("ours_ns", "peer_ns", "ratio", "ratio_low", "ratio_high")]
    return _lines(r["scenario"], "scenario", _AGAINST, cells, width)


def growth_heads(width: int) -> str:
    """Returns the headings of `growth_row`."""
    return _lines("case", "case", _GROWTH, [head for head, _ in _GROWTH], width)


def growth_row(r: dict[str, Any], width: int) -> str:
    """Returns the row of what grows: each size with its cost, and the last cost over the first."""
    cells = [cell for size, ns in zip(r["sizes"], r["ns"], strict=True) for cell in (size, f"{ns:.1f}")]
    return _lines(r["case"], "case", _GROWTH, [*cells, f"{r['ratio']:.2f}"], width)
