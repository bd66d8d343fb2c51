"""Reads the precision and the plots of a study, and the columns that they name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ..base.escapes import names_folder
from .diagnostics import Place, Troubles, near
from .model import Factor, PlotSpec, Precision, Selector

_NEEDS_X = ("line", "bar", "scatter", "heatmap")


def read_precision(written: Any, metrics: tuple[Selector, ...], troubles: Troubles) -> Precision | None:
    """The key `precision`, None if it is not there."""
    if written is None:
        return None
    table = written if isinstance(written, dict) else {"relative": written}
    inner: Place = ("precision", "relative") if isinstance(written, dict) else ("precision",)
    relative = share(table["relative"])
    if relative is None or not 0 < relative < 1:
        message = f'"{table["relative"]}" is not a precision: it lies between 0 and 100 %'
        troubles.add(inner, message, 'write for instance "2%" or 0.02')
        relative = 0.5
    labels = []
    for i, name in enumerate(table.get("metrics", [])):
        found = column(name, [], metrics)
        if found is None:
            known = [m.label for m in metrics]
            troubles.add(("precision", "metrics", str(i)), f"there is no metric `{name}` in this study", near(name, known))
        else:
            labels.append(found)
    spec = Precision(relative, tuple(labels), int(table.get("minimum", Precision.minimum)), int(table.get("maximum", Precision.maximum)))
    if spec.minimum > spec.maximum:
        key = "maximum" if "maximum" in table else "minimum"
        troubles.add(
            ("precision", key),
            f"the most, {spec.maximum} replications, is less than the least, {spec.minimum}",
            "write a larger maximum",
        )
    return spec


def read_plots(
    written: list[dict[str, Any]], factors: tuple[Factor, ...], metrics: tuple[Selector, ...], troubles: Troubles
) -> tuple[PlotSpec, ...]:
    """The tables `[[plots]]`, their columns by the names that tables have."""
    out = []
    names: set[str] = set()
    for i, table in enumerate(written):
        kind = table["kind"].lower()
        columns: dict[str, str] = {}
        for key in ("x", "y", "by", "panel"):
            if key not in table:
                continue
            of_metrics = key == "y" or (key == "x" and kind == "scatter")
            of_factors = key != "y"
            found = column(table[key], factors if of_factors else (), metrics if of_metrics else ())
            if found is None:
                known = [*(f.name for f in factors if of_factors), *(m.label for m in metrics if of_metrics)]
                what = "metric" if key == "y" else "factor or metric" if of_metrics else "factor"
                troubles.add(("plots", str(i), key), f"there is no {what} `{table[key]}` in this study", near(table[key], known))
            columns[key] = found or ""
        for key in ("x",) if kind in _NEEDS_X else ():
            if key not in table:
                troubles.add(
                    ("plots", str(i)), f"a {kind} plot needs `{key}`", f'write {key} = "{factors[0].name if factors else "FACTOR"}"'
                )
        if kind == "heatmap" and "by" not in table:
            troubles.add(("plots", str(i)), "a heatmap needs `by`, its second axis", 'write by = "FACTOR"')
        name = table.get("name") or "-".join(re.sub(r"[^\w.+-]+", "_", w) for w in (kind, columns.get("y", ""), columns.get("x", "")) if w)
        if "name" in table and not (names_folder(name) and name.strip(".")):
            troubles.add(("plots", str(i), "name"), f'"{name}" cannot name a file', "write letters, digits, - or _")
        if name in names:
            if "name" in table:
                troubles.add(("plots", str(i), "name"), f'two plots are called "{name}"', "give one of them another name")
            name = next(f"{name}-{k}" for k in range(2, 10_000) if f"{name}-{k}" not in names)
        names.add(name)
        log = tuple(axis.lower() for axis in table.get("log", []))
        out.append(
            PlotSpec(
                kind,
                columns["y"],
                columns.get("x", ""),
                columns.get("by", ""),
                columns.get("panel", ""),
                name,
                table.get("title", ""),
                log,
            )
        )
    return tuple(out)


def share(value: Any) -> float | None:
    """A share written as "2%" or 0.02.

    >>> share("2%"), share(0.5), share("much")
    (0.02, 0.5, None)
    """
    if isinstance(value, str):
        m = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(%?)\s*", value)
        return None if m is None else float(m[1]) / 100 if m[2] else float(m[1])
    return float(value)


def column(name: str, factors: Iterable[Factor], metrics: Iterable[Selector]) -> str | None:
    """The column that a name means: it itself, or the only one that it is the end of, or the only one of that metric."""
    labels = [f.name for f in factors]
    chosen = list(metrics)
    if name in labels or any(name == m.label for m in chosen):
        return name
    ends = [x for x in labels if x.endswith(f".{name}")] + [
        f.name for f in factors if name in f.paths or any(p.endswith(f".{name}") for p in f.paths)
    ]
    ends += [m.label for m in chosen if m.text == name or m.text.endswith(f".{name}") or m.metric == name]
    ends = list(dict.fromkeys(ends))
    return ends[0] if len(ends) == 1 else None
