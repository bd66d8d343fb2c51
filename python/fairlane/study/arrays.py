"""A study as an array with a dimension for each factor, for xarray."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from . import frames
from .one_run import engine

if TYPE_CHECKING:
    import xarray as xr

    from .tables import StudyTables


def dataset(result: StudyTables) -> xr.Dataset:
    """See `StudyResult.to_xarray`."""
    import xarray as xr

    spec = result.spec
    factors = spec.factors
    shape = tuple(len(f.levels) for f in factors)
    seeds = np.unique(result.index["seed"].cast(pl.UInt64).to_numpy())
    runs = result._runs
    at = (*np.unravel_index(runs["combination"].to_numpy(), shape or (1,)),) if factors else ()
    where = (*at, np.searchsorted(seeds, runs["seed"].to_numpy()))
    dims = (*(f.name for f in factors), "seed")
    variables: dict[str, Any] = {}
    for s in spec.metrics:
        values = np.full((*shape, len(seeds)), np.nan)
        values[where] = runs[s.label].fill_null(float("nan")).to_numpy()
        variables[s.label] = (dims, values, {"units": result.unit(s.label), "long_name": s.text})
    coordinates: dict[str, Any] = {"seed": ("seed", seeds)}
    for f in factors:
        dtype = frames.levels_dtype(f)
        labels = np.array([frames.label_value(level.label, dtype) for level in f.levels])
        coordinates[f.name] = (f.name, labels, {"long_name": f.name, **({"units": f.unit} if f.unit else {})})
    about = {"name": spec.name, "description": spec.description, "engine": engine(), "confidence": spec.confidence}
    return xr.Dataset(variables, coordinates, {k: v if isinstance(v, (str, float)) else json.dumps(v) for k, v in about.items()})
