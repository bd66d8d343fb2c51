"""`study.json`: the study as it was planned, so that its folder can be read without planning or running anything."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ..base.checksums import dump_json, fault_of_text, load_json
from ..base.files import open_file, reason, save_bytes
from ..errors import FolderError
from .model import Claim, Combination, Factor, Level, PlotSpec, Precision, Selector, Settings, StudySpec, VariedParameter

NAME = "study.json"
SCHEMA = "fairlane.study-plan/3"
_NUMBER = re.compile(rb'"schema": "fairlane\.study-plan/(\d{1,9})"')


def as_dict(spec: StudySpec, combinations: Iterable[Combination], engine: str) -> dict[str, Any]:
    """The study and its combinations as values that JSON knows; combinations that have the same flows and links share one list of them."""
    layouts: list[dict[str, Any]] = []
    known: dict[tuple[Any, ...], int] = {}
    rows = []
    for p in combinations:
        shape = (tuple(p.groups.items()), p.links, p.reports)
        if shape not in known:
            known[shape] = len(layouts)
            layouts.append({"groups": {g: list(m) for g, m in p.groups.items()}, "links": list(p.links), "report": p.reports})
        rows.append({"labels": dict(p.labels), "essence": p.essence, "layout": known[shape], "warnings": list(p.warnings)})
    return {"schema": SCHEMA, "engine": engine, "spec": _fields(spec), "layouts": layouts, "combinations": rows}


def _fields(spec: StudySpec) -> dict[str, Any]:
    """The study as values that JSON knows. Rare entries are left out where they are empty; `ends` are not needed after the runs."""
    return {k: v for k, v in asdict(spec).items() if k != "ends" and (v or k not in ("settings", "claims"))}


def known(folder: str | PathLike[str], spec: StudySpec, engine: str) -> list[Combination] | None:
    """The combinations of a folder, without their scenarios, if it was planned for this very study and engine; None if not."""
    try:
        tree = load_json(Path(fspath(folder)) / NAME)
        if tree.get("schema") != SCHEMA or tree.get("engine") != engine or tree.get("spec") != json.loads(json.dumps(_fields(spec))):
            return None
        return from_dict(tree)[1]
    except (OSError, FolderError, ValueError, KeyError, AttributeError, TypeError, IndexError):
        return None


def from_dict(tree: Mapping[str, Any]) -> tuple[StudySpec, list[Combination], str]:
    """The study, its combinations (without their scenarios) and the engine."""
    s = tree["spec"]
    spec = StudySpec(
        **{
            **s,
            "factors": tuple(Factor(f["name"], tuple(_level(x) for x in f["levels"]), f["unit"]) for f in s["factors"]),
            "seeds": tuple(s["seeds"]),
            "metrics": tuple(Selector(**{**m, "place": tuple(m["place"])}) for m in s["metrics"]),
            "sets": _pairs(s["sets"]),
            "plots": tuple(PlotSpec(**{**p, "log": tuple(p["log"])}) for p in s["plots"]),
            "precision": None if s["precision"] is None else Precision(**{**s["precision"], "metrics": tuple(s["precision"]["metrics"])}),
            "plugins": tuple(s["plugins"]),
            "set_places": tuple((tuple(a), tuple(b)) for a, b in s["set_places"]),
            "source": None if s["source"] is None else tuple(s["source"]),
            "settings": _settings(s.get("settings")),
            "ends": (),
            "claims": tuple(Claim(**{**c, "place": tuple(c["place"])}) for c in s.get("claims", ())),
        }
    )
    layouts = [({g: tuple(m) for g, m in x["groups"].items()}, tuple(x["links"]), x.get("report", "flows")) for x in tree["layouts"]]
    combinations = []
    for i, p in enumerate(tree["combinations"]):
        groups, links, report = layouts[p["layout"]]
        combinations.append(Combination(i, p["labels"], (), p["essence"], groups, links, tuple(p["warnings"]), report))
    return spec, combinations, tree["engine"]


def _settings(w: Mapping[str, Any] | None) -> Settings | None:
    if w is None:
        return None
    opens = tuple(VariedParameter(**{**o, "choices": tuple(o["choices"]), "paths": tuple(o["paths"])}) for o in w["opens"])
    return Settings(w["n"], w["seed"], opens, tuple(tuple(v) for v in w["values"]))


def _level(x: Mapping[str, Any]) -> Level:
    return Level(x["label"], _pairs(x["sets"]), tuple(x["place"]))


def _pairs(rows: Iterable[Iterable[Any]]) -> tuple[tuple[str, Any], ...]:
    return tuple((path, value) for path, value in rows)


def write(folder: str | PathLike[str], spec: StudySpec, combinations: Iterable[Combination], engine: str) -> None:
    """Writes `study.json` of a folder, whole or not at all."""
    save_bytes(Path(fspath(folder)) / NAME, dump_json(as_dict(spec, combinations, engine)))


def fault(folder: Path) -> str:
    """Returns the fault of `study.json`, "" if it is whole; raises `OSError` if it cannot be read."""
    with open_file(folder / NAME) as f:
        return fault_of_text(f.read())


def format_of(folder: Path) -> int:
    """The number of the format of `study.json`, 0 if it does not say."""
    with open_file(folder / NAME) as f:
        found = _NUMBER.search(f.read(256))
    return int(found[1]) if found else 0


def is_one(folder: Path) -> bool:
    """True if the `study.json` of a folder is ours, whole or not."""
    try:
        return format_of(folder) > 0
    except OSError:
        return False


def is_later(folder: Path) -> bool:
    """Returns true if a later version wrote it."""
    return format_of(folder) > int(SCHEMA.rpartition("/")[2])


def read(folder: str | PathLike[str]) -> tuple[StudySpec, list[Combination], str]:
    """Reads `study.json` of a folder; raises `FolderError` if it is none of a study, of another version, or damaged."""
    path = Path(fspath(folder))
    try:
        number = format_of(path)
        form = f"the format 'fairlane.study-plan/{number}'" if number else "no known format"
        if f"fairlane.study-plan/{number}" != SCHEMA:
            raise FolderError(f"{path / NAME} has {form}, this version reads {SCHEMA!r}: run the study again")
        return from_dict(load_json(path / NAME))
    except FileNotFoundError:
        raise FolderError(f"{path} is not the folder of a study: it has no {NAME}; `fairlane study FILE --out {path}` makes one") from None
    except OSError as e:
        raise FolderError(f"cannot read {path / NAME}: {reason(e)}") from None
    except (ValueError, KeyError, AttributeError, TypeError, IndexError):
        raise FolderError(
            f"{path} is not the folder of a study: its {NAME} is of another version, or was not written by fairlane"
        ) from None
