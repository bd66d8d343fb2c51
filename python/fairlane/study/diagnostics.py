"""Diagnostics of a study: collected, and reported together with their places in its file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from .. import _core
from ..base.escapes import one_line
from ..errors import ScenarioError

MOST = _core.MOST_TOLD
"""Most problems reported, as for a scenario; one mistake in a long list causes thousands."""
Place = tuple[str, ...]
"""Keys that lead to a value; items of lists by their number."""


@dataclass
class Troubles:
    """Everything found so far in one study file."""

    text: str
    name: str
    format: str
    found: list[tuple[list[str], bool, str, str, str]] = field(default_factory=list)
    others: list[ScenarioError] = field(default_factory=list)
    """Errors in other files, such as the base scenario."""
    left: int = 0
    """Problems that are counted only."""
    _known: set[tuple[Place, bool, str]] = field(default_factory=set)

    def add(self, place: Place, message: str, help: str = "", *, key: bool = False, code: str = "") -> None:
        """A problem at the value, or the `key`, that `place` leads to; `code` where the scenario reader has one for it."""
        known = (place, key, message)
        if known not in self._known:
            self._known.add(known)
            help = help or "`fairlane schema study-file` says what is allowed"
            self.found.append((list(place), key, code, one_line(message), one_line(help)))

    @property
    def full(self) -> bool:
        """True once the list is full; further problems are only counted."""
        return len(self.found) >= MOST

    def error(self) -> ScenarioError | None:
        """All of it as one exception, None if nothing is wrong."""
        parts: list[ScenarioError] = []
        if self.found:
            own = _core.remarks(self.text, self.name, self.format, self.found)
            assert isinstance(own, ScenarioError)
            parts.append(own)
        left = self.left
        for other in self.others:
            if sum(len(p.diagnostics) for p in parts) < MOST:
                parts.append(other)
            else:
                left += len(other.diagnostics) + other.more
        if not parts:
            return None
        left += sum(p.more for p in parts)
        rendered = "\n".join(whole(p) for p in parts)
        diagnostics = [d for p in parts for d in p.diagnostics]
        return ScenarioError(rendered + (f"\nand {left:,} more\n" if left else ""), diagnostics, left)

    def check(self) -> None:
        """Raises what was found."""
        error = self.error()
        if error is not None:
            raise error


def whole(error: ScenarioError) -> str:
    """Returns the text of an error without the count of the problems it leaves out."""
    return error.rendered.removesuffix(f"\nand {error.more:,} more\n") if error.more else error.rendered


def near(word: str, known: Sequence[str], what: str = "known are") -> str:
    """A help text: the nearest of the known names, or what there is.

    >>> near("utilization", ["utilisation", "drops"])
    'did you mean `utilisation`?'
    """
    names = list(dict.fromkeys(known))
    # People write the end of a long name, and misspell that.
    ends = {".".join(n.split(".")[i:]).lower(): n for n in names for i in range(n.count("."), -1, -1)}
    found = get_close_matches(word.lower(), list(ends), n=1)
    if found:
        return f"did you mean `{ends[found[0]]}`?"
    if not names:
        return ""
    return f"{what} {', '.join(f'`{n}`' for n in names[:24])}{', ...' if len(names) > 24 else ''}"
