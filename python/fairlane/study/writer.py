"""Studies made in Python as the text of a study file: what is written in either is read by the same code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, is_dataclass
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from ..base import toml
from ..base.spec import plain
from ..errors import FairlaneError

if TYPE_CHECKING:
    from ..runs.network import Network

Base = "Network | str | PathLike[str] | Mapping[str, Any]"
_TABLES = ("scenario", "set", "open", "factors")
_LISTS = ("zip", "claims", "plots")


def study_text(base: Network | str | PathLike[str] | Mapping[str, Any], **parts: Any) -> str:
    """The study file that says what the arguments of `Study` say."""
    from ..runs.network import Network

    if isinstance(base, Network):
        scenario: Any = base.to_dict()
    elif isinstance(base, Mapping):
        scenario = _plain(base)
    elif isinstance(base, (str, PathLike)):
        scenario = fspath(base)
    else:
        raise FairlaneError(f"a study needs a base scenario: a Network, a dict or the path of a scenario file, not {type(base).__name__}")
    tree = {"scenario": scenario, **{k: _plain(v) for k, v in parts.items() if v is not None}}
    order = (
        "name",
        "description",
        "scenario",
        "seeds",
        "metrics",
        "settings",
        "precision",
        "keep",
        "plugins",
        "confidence",
        "hop_probe",
        "run_limit",
        "set",
        "open",
        "factors",
        "zip",
        "claims",
        "plots",
    )
    try:
        return dumps({k: tree[k] for k in order if k in tree})
    except TypeError as e:
        raise FairlaneError(f"cannot write the study: {e}") from None


def dumps(tree: Mapping[str, Any]) -> str:
    """A study tree as TOML: one line a value, one header for each table.

    >>> print(dumps({"scenario": "lan.toml", "factors": {"links.x.rate": ["1Mbit/s"]}, "zip": [{"a.b": [1]}]}))
    scenario = "lan.toml"
    <BLANKLINE>
    [factors]
    "links.x.rate" = ["1Mbit/s"]
    <BLANKLINE>
    [[zip]]
    "a.b" = [1]
    <BLANKLINE>
    """
    tables = {k: v for k, v in tree.items() if (k in _TABLES and isinstance(v, dict)) or (k in _LISTS and isinstance(v, list) and v)}
    parts = ["\n".join(f"{toml.key(k)} = {toml.value(v)}" for k, v in tree.items() if k not in tables)]
    for name, table in tables.items():
        if isinstance(table, list):
            parts += [_lines(f"[[{name}]]", t) for t in table]
        else:
            parts += _scenario(table) if name == "scenario" else [_lines(f"[{name}]", table)]
    return "\n\n".join(p for p in parts if p) + "\n"


def _lines(head: str, table: Mapping[str, Any]) -> str:
    return "\n".join([head, *(f"{toml.key(k)} = {toml.value(v)}" for k, v in table.items() if v is not None)])


def _scenario(tree: dict[str, Any]) -> list[str]:
    """A scenario as the table `[scenario]`, its links and flows under headers of their own."""
    split = {
        k: v
        for k, v in tree.items()
        if k in ("topology", "links", "wireless", "flows") and isinstance(v, dict) and all(isinstance(x, dict) for x in v.values())
    }
    out = [_lines("[scenario]", {k: v for k, v in tree.items() if k not in split})]
    for section, entries in split.items():
        if not entries:
            out.append(f"[scenario.{section}]")
        out += [_lines(f"[scenario.{section}.{toml.key(name)}]", table) for name, table in entries.items()]
    return out


def _plain(value: Any) -> Any:
    """`value` in the types of TOML; arrays of numpy and any sequence become lists, `plain` does the rest."""
    if hasattr(value, "tolist") and not isinstance(value, (str, bytes)):
        return value.tolist()
    if isinstance(value, PathLike):
        return fspath(value)
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items() if v is not None}
    if is_dataclass(value) and not isinstance(value, type) and type(value).__module__.startswith("fairlane.study"):
        return {k: _plain(v) for k, v in asdict(value).items() if v not in (None, "", ())}
    if isinstance(value, (list, tuple, range)) or (
        isinstance(value, Iterable) and not isinstance(value, (str, bytes)) and not hasattr(value, "table")
    ):
        return [_plain(v) for v in value]
    done = plain(value)
    if not isinstance(done, (str, bool, int, float, list, dict)):
        raise FairlaneError(f"a study holds text, numbers, true or false, lists, tables and parameter classes, not {type(done).__name__}")
    return done
