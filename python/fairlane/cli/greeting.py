"""What `fairlane` says by itself."""

from __future__ import annotations

from importlib.util import find_spec

from .. import _core
from ..base.extras import EXTRAS

_FIRST = (
    ("fairlane new home", "write a scenario: a home behind one line"),
    ("fairlane run home.toml", "run it: tables, and on a terminal a picture"),
    ("fairlane explain fq_codel", "what a queue, a parameter or a number is"),
)


def greeting() -> str:
    """What fairlane is, the first three commands, and what this installation lacks."""
    lines = [f"fairlane {_core.version()}: a packet-level laboratory for TCP, UDP and their queues.", "", "To begin with:"]
    lines += [f"  {command:<28}{words}" for command, words in _FIRST]
    lines += ["", "`fairlane --help` lists all commands; `fairlane doctor` checks the installation."]
    if any(find_spec(m) is None for m in EXTRAS["study"]):
        lines.append("Figures, data frames and studies are not installed: pip install 'fairlane[all]'")
    return "\n".join(lines)
