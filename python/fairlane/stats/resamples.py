"""Bootstrap intervals, for statistics without a formula and values far from normal."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import FairlaneError
from .intervals import CONFIDENCE, Estimate, check_confidence, finite

if TYPE_CHECKING:
    import numpy as np

METHODS = ("bca", "percentile")


@dataclass(frozen=True, slots=True)
class Bootstrap(Estimate):
    """Result of `bootstrap`."""

    standard_error: float | None
    """Sample deviation of the statistic over the resamples."""
    method: str
    """Method used: `bca` or `percentile`."""


def bootstrap(
    values: Iterable[float | None],
    statistic: str | Callable[[np.ndarray], float] = "mean",
    confidence: float = CONFIDENCE,
    resamples: int = 9999,
    seed: int = 1,
    method: str = "bca",
) -> Bootstrap:
    """Returns a statistic of independent values with its bootstrap interval (by `scipy.stats.bootstrap`).

    `statistic`: "mean", "median", a percentile such as "p95" (by linear interpolation, as numpy has it), or a function of an array that
    returns a number. The values are resampled with replacement `resamples` times; the interval comes from the quantiles of the statistic.
    `percentile` takes the quantiles (1 ± confidence) / 2; `bca` shifts them to correct for bias and for a spread that depends on the
    value (Efron, Better bootstrap confidence intervals, JASA 82, 1987; Efron and Tibshirani, An Introduction to the Bootstrap, 1993,
    chapter 14). Where BCa is not defined (the statistic does not change when one value is left out) the percentiles are used;
    see `method` of the result.

    The same values and seed give the same interval. Values that are not finite are ignored. Values must be independent. With fewer
    than about ten values the interval is too narrow; for means the t interval is better then.

    >>> bootstrap([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4], "median").value
    1.3
    """
    import numpy as np
    import scipy.stats

    check_confidence(confidence)
    if method not in METHODS:
        raise FairlaneError(f'a bootstrap method is "bca" or "percentile", not {method!r}')
    if resamples < 100:
        raise FairlaneError(f"a bootstrap interval needs at least 100 resamples, not {resamples}")
    function, vectorised = _function(statistic)
    v = np.asarray(finite(values), dtype=float)
    if not v.size:
        return Bootstrap(None, None, None, 0, None, method)
    value = float(function(v, axis=-1) if vectorised else function(v))
    if v.size == 1:
        return Bootstrap(value, None, None, 1, None, method)
    if (v == v[0]).all():
        return Bootstrap(value, value, value, v.size, 0.0, method)

    def attempt(name: str) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return scipy.stats.bootstrap(
                (v,),
                function,
                n_resamples=resamples,
                batch=max(1, 4_000_000 // v.size),
                vectorized=vectorised,
                confidence_level=confidence,
                method="BCa" if name == "bca" else "percentile",
                **{_seed_keyword(): np.random.default_rng(seed)},
            )

    found = attempt(method)
    if not np.isfinite(found.confidence_interval).all() and method == "bca":
        method = "percentile"
        found = attempt(method)
    low, high = map(float, found.confidence_interval)
    return Bootstrap(value, low, high, v.size, float(found.standard_error), method)


def _function(statistic: Any) -> tuple[Callable[..., Any], bool]:
    """Returns the statistic as a function of an array, and true if it has an axis argument."""
    import numpy as np

    if callable(statistic):
        return statistic, False
    if statistic == "mean":
        return np.mean, True
    if statistic == "median":
        return np.median, True
    if isinstance(statistic, str) and statistic.startswith("p"):
        try:
            q = float(statistic[1:])
        except ValueError:
            q = -1.0
        if 0.0 <= q <= 100.0:
            return lambda x, axis: np.percentile(x, q, axis=axis), True
    raise FairlaneError(f'a statistic is "mean", "median", a percentile such as "p95", or a function, not {statistic!r}')


def _seed_keyword() -> str:
    """Returns the name of scipy's generator argument: `rng` since 1.15, `random_state` before."""
    import inspect

    import scipy.stats

    return "rng" if "rng" in inspect.signature(scipy.stats.bootstrap).parameters else "random_state"
