"""mahimahi export: the milliseconds at which a link can carry 1500 bytes.

Source: R. Netravali et al., Mahimahi: Accurate Record-and-Replay for HTTP (USENIX ATC 2015), and `mm-link`: a line for each opportunity,
and the file repeats from its
last time. Read, they are the `trace` of a link (docs/models/link-traces.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ...base.format import seconds
from ...errors import FairlaneError, suggest

if TYPE_CHECKING:
    from .selection import Selection

BITS = 12_000
"""Bytes of a delivery opportunity."""
MOST = 20_000_000
"""Most lines of a file."""


def mahimahi_bytes(part: Selection) -> bytes:
    """Returns the capacity of a link, or for a link without a rate (imported, or Wi-Fi) what it carried."""
    links = {x["name"]: x for x in part.result.scenario["expanded"]["links"]}
    if not links:
        raise FairlaneError("this result has no links, and mahimahi export needs one")
    if len(part.links) != 1 and len(links) > 1:
        raise FairlaneError(f"a mahimahi trace shows one link: name it, such as --link {next(iter(links))}")
    name = part.links[0] if part.links else next(iter(links))
    if name not in links:
        raise suggest(name, list(links), "link")
    link = links[name]
    duration = round(seconds(part.result.description["duration"]) * 1e12)
    times: Iterable[int]
    if "trace" in link:
        times = _recorded(part.result.description, name)
    elif link.get("rate"):
        times = _capacity(link, duration)
    else:
        times = _carried(part, name)
    text = "\n".join(map(str, times))
    if not text:
        raise FairlaneError(f"the link {name} cannot carry a packet of 1500 bytes in this time")
    return (text + "\n").encode()


def _recorded(description: dict[str, Any], name: str) -> list[int]:
    """Returns the trace of a trace-driven link from its scenario."""
    own = description["links"].get(name.removesuffix(".reverse")) or {}
    back = own.get("reverse") or {}
    data = (back.get("trace") if name.endswith(".reverse") else None) or own.get("trace")
    if not isinstance(data, str) or not data.startswith("data:,"):
        raise FairlaneError(f"the trace of {name} is set in the topology, not under `links`: use its file")
    return [int(word) for word in data.removeprefix("data:,").split()]


def _capacity(link: dict[str, Any], duration: int) -> Iterator[int]:
    """Yields the times of delivery opportunities, rounded up."""
    steps = [(0, _rate(link["rate"])), *((round(seconds(s["at"]) * 1e12), _rate(s["rate"])) for s in link.get("rates") or ())]
    if sum(rate for _, rate in steps) * duration // BITS // 10**12 > MOST:
        raise FairlaneError(f"a trace of this link would have more than {MOST} lines: run a shorter scenario")
    whole = BITS * 10**12
    left = whole
    for (at, rate), (until, _) in zip(steps, [*steps[1:], (duration, 0)], strict=True):
        at, until = min(at, duration), min(until, duration)
        if not rate:
            continue
        # In units of bit x picosecond, as integers.
        while at + -(-left // rate) <= until:
            at += -(-left // rate)
            left = whole
            yield max(-(-at // 10**9), 1)
        left -= (until - at) * rate


def _rate(text: str) -> int:
    from ... import _core

    return round(_core.quantity("rate", text)[0])


def _carried(part: Selection, name: str) -> Iterator[int]:
    """Yields an opportunity per 1500 bytes that left the queue."""
    import polars as pl

    if part.result.trace_folder is None:
        raise FairlaneError(f"the link {name} has no rate and no recorded events: run with --trace")
    rows = part.result.trace().filter((pl.col("seed") == part.seed) & (pl.col("link") == name) & (pl.col("event") == "dequeue"))
    held = 0
    for time, length in rows.select("time_ps", "length").collect().iter_rows():
        held += length * 8
        while held >= BITS:
            held -= BITS
            yield max(-(-time // 10**9), 1)
