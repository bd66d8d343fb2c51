"""Colours of the flows and links of a result: one for each, on every chart, by the order of declaration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..look.theme import flow_numbers, link_numbers

if TYPE_CHECKING:
    from .data import ResultData


@dataclass(frozen=True)
class Colours:
    """Numbers of the colours of the flows and groups, or of the links."""

    known: dict[str, int]

    def number(self, name: str, members: Sequence[str] = (), other: int = 0) -> int:
        """Returns the number of a flow, a group or a link; of a curve of several, that of the first; of any other curve, `other`."""
        return next((self.known[n] for n in (name, *members) if n in self.known), other)


def colours(result: ResultData, key: str) -> Colours:
    """Returns the colours of a result; `key`: "flow", "group" or "link"."""
    found = result.scenario.get("expanded") or {}
    if key == "link":
        return Colours(link_numbers([x["name"] for x in found.get("links", ())]))
    return Colours(flow_numbers((f["group"], f["name"]) for f in found.get("flows", ())))
