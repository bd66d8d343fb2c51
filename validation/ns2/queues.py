"""Queue parameters of a resolved scenario as settings of the ns-2 queue classes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from . import classes
from .discipline import Discipline, Settings, count, flag, only
from .network import Link, Network, Unsupported
from .units import octets, queue_length, seconds


def discipline(link: Link, network: Network) -> Discipline:
    """The queue of a link in the terms of ns-2."""
    mapped = MAPPED.get(link.queue)
    if mapped is None:
        raise Unsupported(f"links.{link.name}.queue: {link.queue!r} is not mapped to ns-2")
    return mapped(link, network)


def _droptail(link: Link, _: Network) -> Discipline:
    # ns-2 refuses an arrival once limit_ - 1 packets wait.
    waiting = count(link.params["limit"], "packets", link) - (link.params.get("admit", "fits") == "under")
    return Discipline("DropTail", [("limit_", str(waiting + 1)), ("queue_in_bytes_", "false"), ("drop_front_", "false")])


def _sfq(link: Link, _: Network) -> Discipline:
    p = link.params
    only(link, {"hash": "ns2_sum", "refuse": True, "perturb": None, "quantum": None, "depth": None})
    return Discipline("SFQ", [("maxqueue_", str(count(p["limit"], "packets", link))), ("buckets_", str(p["buckets"]))])


def _drr(link: Link, _: Network) -> Discipline:
    p = link.params
    only(link, {"hash": "ns2_source", "drop": "head"})
    limit = str(count(p["limit"], "bytes", link))
    return Discipline("DRR", [("blimit_", limit), ("buckets_", str(p["buckets"])), ("quantum_", str(octets(p["quantum"]))), ("mask_", "0")])


def _fq(link: Link, _: Network) -> Discipline:
    p = link.params
    only(link, {"hash": "flow", "clock": "arrival", "limit": None})
    # Each flow has a DropTail, which keeps limit_ - 1, and FQ holds its first packet.
    limit = str(count(p["flow_limit"], "packets", link, "flow_limit"))
    return Discipline("FQ", [], late=(("Queue/DropTail", "limit_", limit),))


def _packets(text: str | None, mean: int) -> str:
    """A threshold in packets of the mean length, as ns-2 wants it; 0 asks for the automatic one."""
    if text is None:
        return "0"
    number, unit = queue_length(text)
    return repr(number if unit == "packets" else number / mean)


def _weight(params: dict[str, Any], link: Link, mean: int) -> str:
    if params.get("w_q") is not None:
        return repr(float(params["w_q"]))
    if params.get("averaging") is not None:
        return repr(-math.expm1(-1.0 / (seconds(params["averaging"]) * link.rate / (8.0 * mean))))
    return "-1"


def _red(link: Link, _: Network) -> Discipline:
    return Discipline("RED", [*_red_settings(link), ("adaptive_", "0")])


def _ared(link: Link, _: Network) -> Discipline:
    p = link.params
    only(link, {"on_arrival": True, "fixed_gentle": True})
    adaptive = [("adaptive_", "1"), ("alpha_", repr(p["alpha"])), ("beta_", repr(p["beta"])), ("top_", repr(p["top"]))]
    return Discipline(
        "RED", [*_red_settings(link), *adaptive, ("bottom_", repr(p.get("bottom") or 0)), ("interval_", repr(seconds(p["interval"])))]
    )


def _red_settings(link: Link) -> Settings:
    params = link.params
    where = f"links.{link.name}.queue.{link.queue}"
    required = {"grace": True, "spare": 1, "ecn": False, "idle_packet": None}
    for name, value in required.items():
        if params.get(name) != value:
            raise Unsupported(f"{where}.{name}: ns-2 has only {value!r}")
    mean = octets(params["mean_packet"])
    in_bytes = params["measure"] == "bytes"
    limit, unit = queue_length(params["limit"])
    if unit == "bytes":
        limit /= mean
    if limit != int(limit) or (in_bytes and params["admit"] != "not_full") or params["admit"] == "under":
        raise Unsupported(f"{where}.limit: {params['limit']} with admit = {params['admit']!r} has no counterpart in ns-2")
    return [
        ("limit_", str(int(limit))),
        ("thresh_", _packets(params.get("min"), mean)),
        ("maxthresh_", _packets(params.get("max"), mean)),
        ("targetdelay_", repr(seconds(params["target_delay"]))),
        ("linterm_", repr(1.0 / float(params["max_p"]))),
        ("q_weight_", _weight(params, link, mean)),
        ("gentle_", flag(params["gentle"])),
        ("wait_", flag(params["wait"])),
        ("queue_in_bytes_", flag(in_bytes)),
        ("bytes_", flag(params["byte_mode"])),
        ("mean_pktsize_", str(mean)),
        ("setbit_", "false"),
        ("drop_tail_", "true"),
    ]


def _counted(link: Link) -> Settings:
    """Returns the unit that PI and Vq count in, and their limit."""
    p = link.params
    mean, in_bytes = octets(p["mean_packet"]), p["measure"] == "bytes"
    limit, unit = queue_length(p["limit"])
    packets = limit / mean if unit == "bytes" else limit
    if packets != int(packets) or (unit == "bytes" and not in_bytes):
        raise Unsupported(f"links.{link.name}.queue.{link.queue}.limit: {p['limit']} has no counterpart in ns-2")
    return [("limit_", str(int(packets))), ("mean_pktsize_", str(mean)), ("queue_in_bytes_", flag(in_bytes))]


def _pi(link: Link, _: Network) -> Discipline:
    p = link.params
    only(link, {"ecn": False, "admit": "not_full" if p["measure"] == "bytes" else p["admit"]})
    target, unit = queue_length(p["target"])
    target /= octets(p["mean_packet"]) if unit == "bytes" else 1
    # A frequency in whole picoseconds a period: nine digits are more than enough.
    control = [("a_", repr(p["a"])), ("b_", repr(p["b"])), ("w_", f"{1.0 / seconds(p['interval']):.9g}"), ("qref_", f"{target:g}")]
    return Discipline("PI", [*_counted(link), *control, ("bytes_", flag(p["byte_mode"])), ("setbit_", "false")])


def _rem(link: Link, _: Network) -> Discipline:
    p = link.params
    only(link, {"ecn": False, "alpha": 0.1, "measure": "packets"})
    # Of a limit of n packets ns-2 keeps n - 1.
    limit = count(p["limit"], "packets", link) + (p["admit"] != "under")
    price = [
        ("gamma_", repr(p["gamma"])),
        ("phi_", repr(p["phi"])),
        ("inw_", repr(p["weight"])),
        ("pupdtime_", repr(seconds(p["interval"]))),
    ]
    target = str(count(p["target"], "packets", link, "target"))
    mean = str(octets(p["mean_packet"]))
    return Discipline(
        "REM", [("limit_", str(limit)), *price, ("pbo_", target), ("mean_pktsize_", mean), ("markpkts_", "false"), ("qib_", "false")]
    )


def _avq(link: Link, _: Network) -> Discipline:
    p = link.params
    only(link, {"ecn": False, "alpha": 0.15, "skip_dropped": True, "cap_last": True, "virtual_limit": None, "admit": "fits"})
    rates = [("ecnlim_", repr(p["initial"])), ("gamma_", repr(p["gamma"])), ("buflim_", "1.0")]
    return Discipline("Vq", [*_counted(link), *rates, ("markpkts_", "false"), ("markfront_", "false"), ("drop_front_", "false")])


MAPPED: dict[str, Callable[[Link, Network], Discipline]] = {
    "droptail": _droptail,
    "red": _red,
    "ared": _ared,
    "pi": _pi,
    "rem": _rem,
    "avq": _avq,
    "sfq": _sfq,
    "drr": _drr,
    "fq": _fq,
    "rio": classes.rio,
    "wred": classes.wred,
}
"""By our registry name."""
