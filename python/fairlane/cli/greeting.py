"""The greeting of `fairlane` without a command."""

from __future__ import annotations

from importlib.util import find_spec

from .. import _core
from ..base.extras import EXTRAS, installing

_FIRST = (
    ("fairlane new home", "create a scenario: a home uplink"),
    ("fairlane run home.toml", "run it: tables, and a chart on a terminal"),
    ("fairlane explain fq_codel", "explain a queue, a parameter, a metric or a term"),
)


def greeting() -> str:
    """Returns the description of fairlane, the first three commands, and missing extras."""
    lines = [f"fairlane {_core.version()}: a packet-level network simulator.", "", "Start with:"]
    lines += [f"  {command:<28}{words}" for command, words in _FIRST]
    lines += ["", "`fairlane --help` lists all commands; `fairlane doctor` checks the installation."]
    if any(find_spec(m) is None for m in EXTRAS["study"]):
        lines.append(f"Figures, data frames and studies need an extra: {installing('fairlane[all]')}")
    return "\n".join(lines)
