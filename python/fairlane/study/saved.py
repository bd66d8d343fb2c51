"""`study.json`: the study as it was planned, so that its folder can be read without planning or running anything."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ..base.files import save_bytes
from ..errors import FolderError
from .model import Factor, Level, PlotSpec, Point, Precision, Selector, StudySpec

NAME = "study.json"
SCHEMA = "fairlane.study-plan/1"


def as_dict(spec: StudySpec, points: Iterable[Point], engine: str) -> dict[str, Any]:
    """The study and its points as values that JSON knows; points that have the same flows and links share one list of them."""
    layouts: list[dict[str, Any]] = []
    known: dict[tuple[Any, ...], int] = {}
    rows = []
    for p in points:
        shape = (tuple(p.groups.items()), p.links)
        if shape not in known:
            known[shape] = len(layouts)
            layouts.append({"groups": {g: list(m) for g, m in p.groups.items()}, "links": list(p.links)})
        rows.append({"labels": dict(p.labels), "essence": p.essence, "layout": known[shape], "warnings": list(p.warnings)})
    return {"schema": SCHEMA, "engine": engine, "spec": asdict(spec), "layouts": layouts, "points": rows}


def from_dict(tree: Mapping[str, Any]) -> tuple[StudySpec, list[Point], str]:
    """The study, its points (without their scenarios) and the engine."""
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
        }
    )
    layouts = [({g: tuple(m) for g, m in x["groups"].items()}, tuple(x["links"])) for x in tree["layouts"]]
    points = []
    for i, p in enumerate(tree["points"]):
        groups, links = layouts[p["layout"]]
        points.append(Point(i, p["labels"], (), p["essence"], groups, links, tuple(p["warnings"])))
    return spec, points, tree["engine"]


def _level(x: Mapping[str, Any]) -> Level:
    return Level(x["label"], _pairs(x["sets"]), tuple(x["place"]))


def _pairs(rows: Iterable[Iterable[Any]]) -> tuple[tuple[str, Any], ...]:
    return tuple((path, value) for path, value in rows)


def write(folder: str | PathLike[str], spec: StudySpec, points: Iterable[Point], engine: str) -> None:
    """Writes `study.json` of a folder, whole or not at all."""
    text = json.dumps(as_dict(spec, points, engine), indent=1, ensure_ascii=False)
    save_bytes(Path(fspath(folder)) / NAME, (text + "\n").encode())


def read(folder: str | PathLike[str]) -> tuple[StudySpec, list[Point], str]:
    """Reads `study.json` of a folder; raises `FolderError` if it is none of a study."""
    path = Path(fspath(folder))
    try:
        tree = json.loads((path / NAME).read_text("utf-8"))
        if tree.get("schema") != SCHEMA:
            raise FolderError(f"{path} has the format {tree.get('schema')!r}, this version reads {SCHEMA!r}")
        return from_dict(tree)
    except OSError as e:
        raise FolderError(f"{path} is not the folder of a study: it has no {NAME}; `fairlane study FILE --out {path}` makes one") from e
    except (ValueError, KeyError, AttributeError, TypeError, IndexError) as e:
        raise FolderError(f"{path} is not the folder of a study: its {NAME} is damaged, or of another version") from e
