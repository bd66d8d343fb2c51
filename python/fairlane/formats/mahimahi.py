"""Traces of mahimahi: the milliseconds at which a link can carry 1500 bytes.

Source: R. Netravali et al., Mahimahi: Accurate Record-and-Replay for HTTP (USENIX ATC 2015), and `mm-link`: a line for each opportunity,
and the file begins anew at its
last time. Read, they are the `trace` of a link (docs/models/link-traces.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..base.format import seconds
from ..errors import FairlaneError, suggest

if TYPE_CHECKING:
    from .export import Part

BITS = 12_000
"""Of an opportunity."""
MOST = 20_000_000
"""Lines of a file."""


def mahimahi_bytes(part: Part) -> bytes:
    """What a link of the scenario can carry; of one without a rate (imported, or on the air) what it carried."""
    links = {x["name"]: x for x in part.result.scenario["expanded"]["links"]}
    if not links:
        raise FairlaneError("this result has no links, so there is nothing that a trace of mahimahi could say")
    if len(part.links) != 1 and len(links) > 1:
        raise FairlaneError(f"a trace of mahimahi is of one link: name it, such as --link {next(iter(links))}")
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
        raise FairlaneError(f"the link {name} can carry no packet of 1500 bytes in this time")
    return (text + "\n").encode()


def _recorded(description: dict[str, Any], name: str) -> list[int]:
    """The trace that the link follows, as its scenario has it."""
    own = description["links"].get(name.removesuffix(".reverse")) or {}
    back = own.get("reverse") or {}
    data = (back.get("trace") if name.endswith(".reverse") else None) or own.get("trace")
    if not isinstance(data, str) or not data.startswith("data:,"):
        raise FairlaneError(f"the trace of {name} stands in a topology, not under `links`: use the file that it is")
    return [int(word) for word in data.removeprefix("data:,").split()]


def _capacity(link: dict[str, Any], duration: int) -> Iterator[int]:
    """Each time that another 1500 bytes could have gone, rounded up."""
    steps = [(0, _rate(link["rate"])), *((round(seconds(s["at"]) * 1e12), _rate(s["rate"])) for s in link.get("rates") or ())]
    if sum(rate for _, rate in steps) * duration // BITS // 10**12 > MOST:
        raise FairlaneError(f"a trace of this link would have more than {MOST} lines: run a shorter scenario")
    whole = BITS * 10**12
    left = whole
    for (at, rate), (until, _) in zip(steps, [*steps[1:], (duration, 0)], strict=True):
        at, until = min(at, duration), min(until, duration)
        if not rate:
            continue
        # In units of a bit times a picosecond: whole numbers.
        while at + -(-left // rate) <= until:
            at += -(-left // rate)
            left = whole
            yield max(-(-at // 10**9), 1)
        left -= (until - at) * rate


def _rate(text: str) -> int:
    from .. import _core

    return round(_core.quantity("rate", text)[0])


def _carried(part: Part, name: str) -> Iterator[int]:
    """An opportunity for each 1500 bytes that left the queue."""
    import polars as pl

    if part.result.traced is None:
        raise FairlaneError(f"the link {name} has no rate, and no events are on record of what it carried: run with --trace")
    rows = part.result.trace().filter((pl.col("seed") == part.seed) & (pl.col("link") == name) & (pl.col("event") == "dequeue"))
    held = 0
    for time, length in rows.select("time_ps", "length").collect().iter_rows():
        held += length * 8
        while held >= BITS:
            held -= BITS
            yield max(-(-time // 10**9), 1)
