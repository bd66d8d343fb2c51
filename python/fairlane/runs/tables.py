"""From the columns of the core to polars frames, and from frames to means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from ..base.metrics import unit
from ..stats import Interval, interval

if TYPE_CHECKING:
    from .result import Result

NAMES = ("flows", "links", "network", "flow_series", "link_series")
LABELS = ("flow", "link", "from", "to", "transport")
_OWN_NAME = {"flows": {"name": "flow"}, "links": {"name": "link"}}


def collect(runs: list[Any]) -> dict[str, pl.DataFrame]:
    """The five tables of all runs, each with the run's seed in front."""
    out = {}
    for name in NAMES:
        frames = []
        for r in runs:
            columns = getattr(r, name)()
            if not columns:  # no series without sampling
                continue
            own = _OWN_NAME.get(name, {})
            frame = pl.DataFrame({own.get(c, c): v for c, v in columns.items()})
            frames.append(frame.select(pl.lit(r.seed, dtype=pl.UInt64).alias("seed"), pl.all()))
        out[name] = pl.concat(frames, how="vertical") if frames else pl.DataFrame()
    return out


def metric_columns(frame: pl.DataFrame) -> list[str]:
    """The columns that are numbers to average."""
    return [c for c in frame.columns if c != "seed" and c not in LABELS]


def intervals(result: Result, table: str) -> list[tuple[dict[str, str], dict[str, Interval]]]:
    """Per flow, link or network, in the order of the table: its labels and the interval of each metric."""
    frame = result.table(table)
    metrics = metric_columns(frame)
    labels = [c for c in LABELS if c in frame.columns]
    key = labels[0] if labels else None
    names = frame[key].to_list() if key else ["network"] * frame.height
    rows: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        rows.setdefault(name, []).append(i)
    text = {c: frame[c].to_list() for c in labels}
    values = {m: frame[m].cast(pl.Float64).to_list() for m in metrics}
    return [({c: text[c][at[0]] for c in labels}, {m: interval(values[m][i] for i in at) for m in metrics}) for at in rows.values()]


def summary_frame(result: Result, table: str) -> pl.DataFrame:
    """Long form of the means."""
    rows = [
        {**labels, "metric": m, **iv.as_dict(), "unit": unit(m)}
        for labels, per_metric in intervals(result, table)
        for m, iv in per_metric.items()
    ]
    floats = dict.fromkeys(("mean", "low", "high", "sd"), pl.Float64)
    return pl.DataFrame(rows, schema_overrides=floats, infer_schema_length=None)


def mean_frame(result: Result, table: str) -> pl.DataFrame:
    """Wide form of the means."""
    several = len(result.info) > 1
    rows = []
    floats: dict[str, Any] = {}
    for labels, per_metric in intervals(result, table):
        row: dict[str, Any] = dict(labels)
        for m, iv in per_metric.items():
            row[m] = iv.mean
            floats[m] = pl.Float64
            if several:
                row[f"{m}_low"], row[f"{m}_high"] = iv.low, iv.high
                floats[f"{m}_low"] = floats[f"{m}_high"] = pl.Float64
        rows.append(row)
    return pl.DataFrame(rows, schema_overrides=floats, infer_schema_length=None)
