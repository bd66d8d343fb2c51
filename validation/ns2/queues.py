"""Queue parameters of a resolved scenario as settings of the ns-2 queue classes."""

from __future__ import annotations

import math
from typing import Any

from .network import Link, Unsupported
from .units import octets, queue_length, seconds

Settings = list[tuple[str, str]]


def queue_settings(link: Link) -> tuple[str, Settings]:
    """ns-2 class and its settings. They are set on the class before the link exists: RED derives its
    automatic parameters when the queue meets its link."""
    if link.queue == "droptail":
        return "DropTail", _droptail(link.params, link.name)
    if link.queue == "red":
        return "RED", _red(link.params, link)
    raise Unsupported(f"links.{link.name}.queue: {link.queue!r} is not mapped to ns-2")


def _droptail(params: dict[str, Any], where: str) -> Settings:
    limit, unit = queue_length(params["limit"])
    if unit != "packets":
        raise Unsupported(f"links.{where}.queue.droptail.limit: a byte limit is not mapped to ns-2")
    # ns-2 refuses an arrival once limit_ - 1 packets wait.
    waiting = int(limit) - (params.get("admit", "fits") == "under")
    return [("limit_", str(waiting + 1)), ("queue_in_bytes_", "false"), ("drop_front_", "false")]


def _flag(value: bool) -> str:
    return "true" if value else "false"


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


def _red(params: dict[str, Any], link: Link) -> Settings:
    where = f"links.{link.name}.queue.red"
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
        ("gentle_", _flag(params["gentle"])),
        ("wait_", _flag(params["wait"])),
        ("queue_in_bytes_", _flag(in_bytes)),
        ("bytes_", _flag(params["byte_mode"])),
        ("mean_pktsize_", str(mean)),
        ("setbit_", "false"),
        ("drop_tail_", "true"),
    ]
