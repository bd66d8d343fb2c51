"""A run that moves inside the page of a study or a reproduction, and what held its flows back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ..base.format import number
from ..errors import FairlaneError
from ..runs.simulation import Simulation
from ..runs.summary import LimitSection, limit_section
from .recording import Recording, record_simulation
from .topology import expanded

if TYPE_CHECKING:
    from .. import _core

MOST = 4
"""Runs that move in one page."""
MOST_BYTES = 600_000
"""Of what moves in each, packed: in a page it takes a third more."""


@dataclass(frozen=True)
class Inset:
    """A run in a frame of its own."""

    name: str
    seed: int
    film: Recording
    why: LimitSection | None
    fingerprint: str

    @cached_property
    def page(self) -> str:
        """What is in the frame."""
        return self.film.page()

    @property
    def begin(self) -> str:
        """From when on, in seconds."""
        return number(self.film.head["from"] / 1e9, 4)

    @property
    def until(self) -> str:
        """To when."""
        return number(self.film.head["until"] / 1e9, 4)

    @property
    def one_of(self) -> int:
        """Of so many packets of a flow one is followed."""
        return self.film.one_of


def inset(resolved: _core.Resolved, seed: int, name: str) -> Inset:
    """Runs a scenario twice: once for the picture, and once to see what limits its flows."""
    from .. import _core

    film = record_simulation(Simulation(_core.Simulation(resolved, seed, False)), expanded(resolved.json()), name, most=MOST_BYTES)
    watched = Simulation(_core.Simulation(resolved, seed, True))
    watched.advance()
    return Inset(name, seed, film, limit_section(watched.result()), watched.fingerprint)


def parse_replays(texts: Sequence[str]) -> list[dict[str, str]]:
    """The runs that are to move: "queue=codel load=0.8" names levels; a value with blanks stands in quotation marks.

    >>> asked(["queue=codel load=0.8"])
    [{'queue': 'codel', 'load': '0.8'}]
    """
    import shlex

    if len(texts) > MOST:
        raise FairlaneError(f"{len(texts)} runs that move are too many for a page: {MOST} at most")
    out = []
    for text in texts:
        try:
            words = shlex.split(text)
        except ValueError as e:
            raise FairlaneError(f"a replay {text!r}: {str(e).lower()}") from None
        pairs = [word.partition("=") for word in words]
        if not pairs or any(not (name and sign and value) for name, sign, value in pairs):
            raise FairlaneError(f"a replay {text!r} names no run: write levels of factors, such as 'queue=codel load=0.8'")
        names = [name for name, _, _ in pairs]
        if twice := next((n for n in names if names.count(n) > 1), None):
            raise FairlaneError(f"a replay {text!r} names {twice} twice")
        out.append({name: value for name, _, value in pairs})
    return out


def scripts(insets: Iterable[Inset]) -> list[str]:
    """The scripts that a page with these has to let run."""
    from .page import script

    return [script()] if list(insets) else []
