"""Readers of Rocketfuel's files (Spring, Mahajan, Wetherall, SIGCOMM 2002): weighted edges of a network, and maps of routers (`.cch`)."""

from __future__ import annotations

import re
from typing import Any

from ..errors import FairlaneError, short
from .edges import PlainGraph, text_of

_ROUTER = re.compile(r"(-?\d+)\s+@(\S*)\s*(.*?)->(.*)")
_NEAR = re.compile(r"<(\d+)>")


def intra(data: bytes, name: str) -> PlainGraph:
    """Reads `weights.intra` or `latencies.intra`: lines of two nodes and a number, one for each direction.

    A file whose name begins with `latencies` has delays in milliseconds; the numbers of others are weights.
    """
    what = "delay_ms" if re.split(r"[\\/]", name)[-1].lower().startswith("latenc") else "weight"
    help_text = "\n  = help: write NODE NODE NUMBER in each line"
    out = PlainGraph(directed=True)
    for number, line in enumerate(text_of(data, name).splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            start, end, value = words
            amount = float(value)
        except ValueError:
            raise FairlaneError(f"{name}:{number}: found {short(line.strip())}, expected two nodes and a number{help_text}") from None
        if not 0 <= amount < 1e9:
            raise FairlaneError(f"{name}:{number}: {short(value)} is out of range{help_text}")
        out.add(start, end, {what: amount, "_line": number})
    return out


def joined(first: PlainGraph, second: PlainGraph) -> None:
    """Adds the attributes of the second graph's edges to those of the first between the same nodes."""
    known: dict[tuple[Any, Any], dict[str, Any]] = {}
    for a, b, _, data in second.edges():
        known.setdefault((a, b), data)
    for a, b, _, data in first.edges():
        for key, value in known.get((a, b), {}).items():
            data.setdefault(key, value)


def cch(data: bytes, name: str) -> PlainGraph:
    """Reads a map of routers: `UID @LOCATION [+] [bb] (NEIGHBOURS) [&EXTERNAL] -> <UID> ... {-UID} ... =NAME`.

    Nodes outside of the network, whose numbers are negative, are left out.
    """
    help_text = "\n  = help: a line of Rocketfuel's maps is such as 12 @Boston,+MA bb (2) -> <3> <14> =a.net r0"
    out = PlainGraph()
    wanted: list[tuple[int, int, int]] = []
    for number, line in enumerate(text_of(data, name).splitlines(), 1):
        text = line.strip()
        if not text or text.startswith(("#", "-")):
            continue
        m = _ROUTER.match(text)
        if m is None or len(m[1]) > 18:
            raise FairlaneError(f"{name}:{number}: found {short(text)}, expected a router{help_text}")
        uid = int(m[1])
        if uid in out.nodes():
            raise FairlaneError(f"{name}:{number}: the router {uid} occurs twice{help_text}")
        label = re.search(r"=(\S+?)!?(?:\s|$)", m[4])
        out.add_node(uid, {"label": label[1] if label else f"{uid} {m[2]}".strip(), "_line": number})
        wanted += [(uid, int(near), number) for near in _NEAR.findall(m[4]) if len(near) <= 18]
    seen: set[tuple[int, int]] = set()
    for a, b, number in wanted:
        if b not in out.nodes():
            raise FairlaneError(f"{name}:{number}: the router {b} of this link does not exist{help_text}")
        if (b, a) not in seen and (a, b) not in seen:
            seen.add((a, b))
            out.add(a, b, {"_line": number})
    return out
