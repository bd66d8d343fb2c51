"""What is wrong with a study: collected, and told together with the places in its file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from .. import _core
from ..errors import ScenarioError

MOST = 50
"""Problems that are shown; nobody reads more, and a mistake in a long list makes thousands."""
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
    """What was found in other files, such as the base scenario."""
    left: int = 0
    """Problems that are counted only."""
    _known: set[tuple[Place, bool, str]] = field(default_factory=set)

    def add(self, place: Place, message: str, help: str = "", *, key: bool = False, code: str = "") -> None:
        """A problem at the value, or the `key`, that `place` leads to; `code` where the scenario reader has one for it."""
        known = (place, key, message)
        help = help or "`fairlane schema study-file` says what is allowed"
        if known not in self._known:
            self._known.add(known)
            self.found.append((list(place), key, code, message, help))

    def error(self) -> ScenarioError | None:
        """All of it as one exception, None if nothing is wrong."""
        parts = self.others[:MOST]
        if self.found:
            own = _core.remarks(self.text, self.name, self.format, self.found[:MOST])
            assert isinstance(own, ScenarioError)
            parts.insert(0, own)
        if not parts:
            return None
        left = self.left + max(0, len(self.found) - MOST) + max(0, len(self.others) - MOST)
        more = f"\nerror: and {left} more of this kind\n" if left else ""
        return ScenarioError("\n".join(p.rendered for p in parts) + more, [d for p in parts for d in p.diagnostics])

    def check(self) -> None:
        """Raises what was found."""
        error = self.error()
        if error is not None:
            raise error


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
