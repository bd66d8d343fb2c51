"""Animated run inside the page of a study or a reproduction, with the limits of its flows."""

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
"""Most animated runs per page."""


@dataclass(frozen=True)
class Inset:
    """Animated run in a frame."""

    name: str
    seed: int
    recording: Recording
    why: LimitSection | None
    fingerprint: str

    @cached_property
    def page(self) -> str:
        """HTML of the frame."""
        return self.recording.page()

    @property
    def begin(self) -> str:
        """Start in seconds."""
        return number(self.recording.head["from"] / 1e9, 4)

    @property
    def until(self) -> str:
        """End in seconds."""
        return number(self.recording.head["until"] / 1e9, 4)

    @property
    def one_of(self) -> int:
        """Sampling of packets: 1 of `one_of` packets of a flow is shown."""
        return self.recording.one_of


def inset(resolved: _core.Resolved, seed: int, name: str) -> Inset:
    """Runs a scenario twice: for the animation, and for the limits of its flows."""
    from .. import _core

    def start() -> Simulation:
        return Simulation(_core.Simulation(resolved, seed, False))

    recording = record_simulation(start(), start, expanded(resolved.json()), name)
    watched = Simulation(_core.Simulation(resolved, seed, True))
    watched.advance()
    return Inset(name, seed, recording, limit_section(watched.result()), watched.fingerprint)


def parse_replays(texts: Sequence[str]) -> list[dict[str, str]]:
    """Parses the runs to animate: "queue=codel load=0.8" names levels; values with blanks are quoted.

    >>> parse_replays(["queue=codel load=0.8"])
    [{'queue': 'codel', 'load': '0.8'}]
    """
    import shlex

    if len(texts) > MOST:
        raise FairlaneError(f"{len(texts)} animated runs are too many for a page: at most {MOST}")
    out = []
    for text in texts:
        try:
            words = shlex.split(text)
        except ValueError as e:
            raise FairlaneError(f"replay {text!r}: {str(e).lower()}") from None
        pairs = [word.partition("=") for word in words]
        if not pairs or any(not (name and sign and value) for name, sign, value in pairs):
            raise FairlaneError(f"invalid replay {text!r}: write levels of factors, such as 'queue=codel load=0.8'")
        names = [name for name, _, _ in pairs]
        if twice := next((n for n in names if names.count(n) > 1), None):
            raise FairlaneError(f"replay {text!r} names {twice} twice")
        out.append({name: value for name, _, value in pairs})
    return out


def scripts(insets: Iterable[Inset]) -> list[str]:
    """Returns the scripts that a page with insets must allow."""
    from .page import script

    return [script()] if list(insets) else []
