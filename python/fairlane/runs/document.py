"""The JSON document of a run (`fairlane.run/1`); docs/reference/json.md describes it, schemas/run.json defines it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from json.encoder import encode_basestring
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .data import ResultData

RUN_SCHEMA = "fairlane.run/1"


AT_ONCE = 32
"""Rows that are formatted together."""


def run_document(result: ResultData) -> dict[str, Any]:
    """Returns the document of all replications."""
    from ..base.document import finite
    from ..base.metrics import within
    from ..stats import interval
    from .tables import metric_tables

    tables: dict[str, list[dict[str, Any]]] = {}
    for name in metric_tables(result):
        rows = _values(result, name)
        tables[name] = [{**_named(labels), **{m: interval(v, within=within(m)).as_dict() for m, v in per.items()}} for labels, per in rows]
    whole: dict[str, Any] = finite({**_head(result), **tables})
    return whole


def json_chunks(result: ResultData) -> Iterator[str]:
    """Yields the document as text, a table row at a time: for a hundred thousand flows it has hundreds of megabytes."""
    from ..base.document import finite
    from .tables import metric_tables

    yield json.dumps(finite(_head(result)), indent=1, ensure_ascii=False, allow_nan=False).removesuffix("\n}")
    for name in metric_tables(result):
        yield f",\n {json.dumps(name)}: ["
        lead = "\n  "
        for row in _rows(result, name):
            yield lead + row
            lead = ",\n  "
        yield "\n ]" if lead[0] == "," else "]"
    yield "\n}\n"


def _rows(result: ResultData, name: str) -> Iterator[str]:
    """Yields the rows of a table as text."""
    from .tables import columns

    runs = [c for c in columns(result, name) if c]
    if len(runs) == 1 and len(result.seeds) == 1 and not _grouped(result, name):
        yield from _rows_of_one(runs[0])
        return
    for labels, per in _values(result, name):
        yield "{" + ", ".join([*_labelled(labels), *(f'"{m}": {_interval(m, v)}' for m, v in per.items())]) + "}"


def _grouped(result: ResultData, name: str) -> bool:
    """Returns True if links of one name pattern share rows: in a result of groups, which may have millions of links."""
    return name == "links" and result.rows_of == "groups"


def _values(result: ResultData, name: str) -> Iterator[tuple[dict[str, Any], dict[str, list[Any]]]]:
    """Yields the labels of each row, and the values of each metric in all runs."""
    from . import link_groups
    from .tables import values

    return link_groups.rows(result) if _grouped(result, name) else values(result, name)


def _rows_of_one(run: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    """Yields the rows of a single run as text, made column by column, which is the fastest way for thousands of rows."""
    from .tables import LABELS

    labels = [c for c in LABELS if c in run]
    for i in range(0, len(next(iter(run.values()))), AT_ONCE):
        part = {c: column[i : i + AT_ONCE] for c, column in run.items()}
        named = [_labelled(dict(zip(labels, row, strict=True))) for row in zip(*(part[c] for c in labels), strict=True)] if labels else None
        parts = [_column(m, values) for m, values in part.items() if m not in labels]
        for k, numbers in enumerate(zip(*parts, strict=True)):
            yield "{" + ", ".join([*(named[k] if named else ()), *numbers]) + "}"


def _column(metric: str, values: Sequence[Any]) -> list[str]:
    lead, tail = f'"{metric}": {{"mean": ', f', {_ALONE}, "n": 1}}'
    nothing = f'"{metric}": {{"mean": null, {_ALONE}, "n": 0}}'
    return [nothing if x is None or not isfinite(x) else lead + repr(x) + tail for x in values]


def _head(result: ResultData) -> dict[str, Any]:
    from .. import _core
    from ..base.metrics import unit
    from .tables import metric_tables, metrics_of

    return {
        "schema": RUN_SCHEMA,
        "fairlane": _core.version(),
        "scenario": result.description,
        "seeds": result.seeds,
        "fingerprints": result.fingerprints,
        "warnings": [str(w) for w in result.warnings],
        "units": {m: unit(m) for name in metric_tables(result) for m in metrics_of(result, name)},
        **({"why": result.why().document()} if all(result._why) else {}),
    }


def _named(labels: dict[str, Any]) -> dict[str, Any]:
    return {("name" if k in ("flow", "group", "link") else k): v for k, v in labels.items()}


def _labelled(labels: dict[str, Any]) -> list[str]:
    return [f'"{k}": {encode_basestring(v) if isinstance(v, str) else v}' for k, v in _named(labels).items()]


def _interval(metric: str, values: list[Any]) -> str:
    """Returns the five numbers of a metric's interval as JSON."""
    from ..base.metrics import within
    from ..stats import interval

    return json.dumps({k: v if _is_number(v) else None for k, v in interval(values, within=within(metric)).as_dict().items()})


_ALONE = '"low": null, "high": null, "sd": null'


def _is_number(x: float | None) -> bool:
    return x is not None and isfinite(x)
