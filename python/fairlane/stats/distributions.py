"""Kolmogorov-Smirnov tests of two samples, or of a sample and a distribution."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..errors import FairlaneError
from .intervals import finite
from .notebook import NotebookSentence


@dataclass(frozen=True, slots=True)
class KS(NotebookSentence):
    """Result of `ks`."""

    distance: float
    """Largest distance between the two distribution functions, 0 to 1."""
    p: float
    """Probability of such a distance, or a larger one, if both are the same."""
    at: float
    """Value at which the distance is largest."""
    above: bool
    """True if the first distribution function is higher there: it has more small values."""
    n_a: int
    n_b: int | None
    """Values of the second sample; None for a distribution function."""

    def __str__(self) -> str:
        other = "the distribution" if self.n_b is None else "the second sample"
        more = "more" if self.above else "fewer"
        where = f"the first has {self.distance:.1%} {more} of its values up to {self.at:.6g} than {other}"
        return f"{where} (Kolmogorov-Smirnov, p = {self.p:.3g})"


def ks(a: Iterable[float | None], b: Iterable[float | None] | Callable[[float], float]) -> KS:
    """Compares the distribution of independent values with that of others, or with a distribution function (by `scipy.stats`).

    The distance is sup |F_a(x) - F_b(x)|. Its p-value is exact for small samples, and asymptotic when both counts are above ten thousand
    or so (Kolmogorov 1933, Smirnov 1939; Hodges 1958 for two samples). Sensitive to any difference, but most in the middle and least in
    the tails.

    `b` as a function must be continuous, take an array or a number, and be fixed beforehand: if its parameters were estimated from `a`
    the p-value is far too large (Lilliefors 1967). With ties, as in counts of packets, the p-value is too large as well (conservative).
    Values of one run are not independent: compare one value per run, or samples far enough apart.

    >>> ks([0.1, 0.4, 0.7], [1.2, 1.5, 1.9]).distance
    1.0
    """
    import numpy as np
    import scipy.stats

    x = finite(a)
    if not x:
        raise FairlaneError("the first sample has no finite values to compare")
    if callable(b):
        law = b
        found = scipy.stats.ks_1samp(x, lambda v: np.asarray([law(float(t)) for t in np.atleast_1d(v)]))
        n_b = None
    else:
        y = finite(b)
        if not y:
            raise FairlaneError("the second sample has no finite values to compare")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # if the exact sum overflows, scipy uses the asymptotic distribution
            found = scipy.stats.ks_2samp(x, y)
        n_b = len(y)
    return KS(float(found.statistic), float(found.pvalue), float(found.statistic_location), bool(found.statistic_sign > 0), len(x), n_b)
