"""The JSON document of a run (`fairlane.run/1`); docs/reference/json.md describes it, schemas/run.json defines it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .result import Result

RUN_SCHEMA = "fairlane.run/1"


TABLES = ("flows", "links", "network")


def run_document(result: Result) -> dict[str, Any]:
    """The document of all replications."""
    from ..base.document import finite
    from .tables import intervals

    tables: dict[str, list[dict[str, Any]]] = {}
    for name in TABLES:
        rows = intervals(result, name)
        tables[name] = [{**_named(labels), **{m: iv.as_dict() for m, iv in per.items()}} for labels, per in rows]
    whole: dict[str, Any] = finite({**_head(result), **tables})
    return whole


def pieces(result: Result) -> Iterator[str]:
    """The document as text, a row of a table at a time: a run of a hundred thousand flows has hundreds of megabytes of it."""
    from ..base.document import finite
    from .tables import values

    yield json.dumps(finite(_head(result)), indent=1, ensure_ascii=False, allow_nan=False).removesuffix("\n}")
    for name in TABLES:
        yield f",\n {json.dumps(name)}: ["
        lead = "\n  "
        for labels, per in values(result, name):
            named = [f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in _named(labels).items()]
            yield lead + "{" + ", ".join([*named, *(f'"{m}": {_interval(v)}' for m, v in per.items())]) + "}"
            lead = ",\n  "
        yield "\n ]" if lead[0] == "," else "]"
    yield "\n}\n"


def _head(result: Result) -> dict[str, Any]:
    from .. import _core
    from ..base.metrics import unit
    from .tables import metrics_of

    return {
        "schema": RUN_SCHEMA,
        "fairlane": _core.version(),
        "scenario": result.description,
        "seeds": result.seeds,
        "fingerprints": result.fingerprints,
        "warnings": result.warnings,
        "units": {m: unit(m) for name in TABLES for m in metrics_of(result, name)},
        **({"why": result.why().document()} if all(result._why) else {}),
    }


def _named(labels: dict[str, str]) -> dict[str, str]:
    return {("name" if k in ("flow", "link") else k): v for k, v in labels.items()}


def _interval(values: list[Any]) -> str:
    """The five numbers of an interval as JSON; most are of one run, and have one."""
    from ..stats import interval

    if len(values) == 1:
        return f'{{"mean": {values[0]!r}, {_ALONE}, "n": 1}}' if _is_number(values[0]) else f'{{"mean": null, {_ALONE}, "n": 0}}'
    return json.dumps({k: v if _is_number(v) else None for k, v in interval(values).as_dict().items()})


_ALONE = '"low": null, "high": null, "sd": null'


def _is_number(x: float | None) -> bool:
    return x is not None and math.isfinite(x)
