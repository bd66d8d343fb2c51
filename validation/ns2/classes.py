"""Queues that distinguish packets in and out of profile, as ns-2's RED/RIO and dsRED."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .discipline import Discipline, count, flag, only
from .network import Flow, Link, Network, Unsupported
from .units import octets

ASSURED = {f"af{group}{precedence}": 8 * group + 2 * precedence for group in range(1, 5) for precedence in range(1, 4)}
"""Code points of assured forwarding (RFC 2597 section 6)."""


def _code_points(match: str | Iterable[str], link: Link) -> Iterator[int | None]:
    """The code points of a match; None: any."""
    for text in [match] if isinstance(match, str) else match:
        kind, _, name = text.partition(":")
        if text == "any":
            yield None
        elif kind == "dscp" and (name in ASSURED or name.isdigit()):
            yield ASSURED[name] if name in ASSURED else int(name)
        else:
            raise Unsupported(f"links.{link.name}.queue.{link.queue}: the match {text!r} is not mapped to ns-2")


def _fits(flow: Flow, match: str | Iterable[str], link: Link) -> bool:
    return any(point in (None, flow.dscp) for point in _code_points(match, link))


def rio(link: Link, network: Network) -> Discipline:
    """RED/RIO where `wait` says so, else the coupled or decoupled RIO of dsRED, which has no waiting."""
    p = link.params
    inside = [_fits(flow, p["in_profile"], link) for flow in network.flows]
    if not p["wait"]:
        only(link, {"grace": False, "spare": None, "total_by_in": False, "age_own": True, "lapse": True})
        levels = [(p["in_min"], p["in_max"], p["in_max_p"]), (p["out_min"], p["out_max"], p["out_max_p"])]
        mode = "RIO-C" if p["coupling"] == "coupled" else "RIO-D"
        return _dsred(link, network, mode, levels, [0 if is_in else 1 for is_in in inside])
    only(
        link,
        {"grace": True, "spare": 1, "total_by_in": True, "coupling": "coupled", "measure": "packets", "byte_mode": False, "ecn": False},
    )
    if inside != [k > 0 for k in range(len(inside))]:
        raise Unsupported(
            f"links.{link.name}.queue.rio: in ns-2 the first flow is out of profile and all others are in (priority_method_ 1)"
        )
    thresholds = [
        (f"{side}_{end}_", p[f"{side}_{ours}"]) for side in ("in", "out") for end, ours in (("thresh", "min"), ("maxthresh", "max"))
    ]
    gentle = flag(p["gentle"])
    return Discipline(
        "RED/RIO",
        [
            ("limit_", str(count(p["limit"], "packets", link))),
            *((name, str(count(text, "packets", link, name))) for name, text in thresholds),
            ("in_linterm_", repr(1.0 / p["in_max_p"])),
            # Packets out of profile are judged by linterm_; out_linterm_ is read nowhere.
            ("linterm_", repr(1.0 / p["out_max_p"])),
            ("q_weight_", repr(p["w_q"])),
            *((f"{side}gentle_", gentle) for side in ("", "in_", "out_")),
            ("wait_", "true"),
            ("bytes_", "false"),
            ("queue_in_bytes_", "false"),
            ("mean_pktsize_", str(octets(p["mean_packet"]))),
            ("setbit_", "false"),
            ("priority_method_", "1"),
        ],
    )


def wred(link: Link, network: Network) -> Discipline:
    """dsRED with one average for all precedences."""
    only(link, {"age_level": True, "lapse": True})
    levels = link.params["levels"]
    precedences = [
        next((k for k, level in enumerate(levels) if _fits(flow, level["match"], link)), len(levels) - 1) for flow in network.flows
    ]
    return _dsred(link, network, "WRED", [(level["min"], level["max"], level["max_p"]) for level in levels], precedences)


def _dsred(link: Link, network: Network, mode: str, levels: list[tuple[str, str, float]], precedences: list[int]) -> Discipline:
    """One physical queue with a precedence a level. It is an edge: a policy for each flow writes the code point that selects its level."""
    p: dict[str, Any] = link.params
    only(link, {"gentle": False, "wait": False, "measure": "packets", "byte_mode": False, "ecn": False, "w_q": 0.002})
    if len(levels) > 3:
        raise Unsupported(f"links.{link.name}.queue.{link.queue}: {len(levels)} precedences; ns-2 has 3")
    number = {name: k for k, name in enumerate(network.nodes)}
    flows = zip(network.flows, precedences, strict=True)
    return Discipline(
        "dsRED/edge",
        [("limit_", str(count(p["limit"], "packets", link)))],
        (
            f"$q meanPktSize {octets(p['mean_packet'])}; $q set numQueues_ 1; $q setNumPrec {len(levels)}; $q setMREDMode {mode}",
            *(f"$q addPolicyEntry {number[flow.source]} {number[flow.target]} Null {level}" for flow, level in flows),
            *(f"$q addPolicerEntry Null {level}; $q addPHBEntry {level} 0 {level}" for level in range(len(levels))),
            *(
                f"$q configQ 0 {level} {count(low, 'packets', link)} {count(high, 'packets', link)} {max_p!r}"
                for level, (low, high, max_p) in enumerate(levels)
            ),
        ),
    )
