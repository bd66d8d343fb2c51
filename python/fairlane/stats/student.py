"""Student's t and the F distribution, for the intervals and the p-values of every table.

scipy would add 140 MB and NumPy for these functions, and a quarter of the start of a study; its other uses are in the extra `study`.
`tests/test_stats.py` compares the two.
"""

from __future__ import annotations

import math

_TINY = 1e-300
_LARGE = 60.0
"""Smallest a for which a ratio of gamma functions is computed by its series in 1/a."""


def two_sided(t: float, df: float) -> float:
    """Returns P(|T| > t) for t >= 0: the regularised incomplete beta function I_x(df/2, 1/2) at x = df/(df + t²) (DLMF 8.17.5)."""
    a, tt = df / 2, t * t
    x, y = df / (df + tt), tt / (df + tt)
    # x^a y^(1/2) / B(a, 1/2); log1p keeps the digits of an x near one.
    front = math.exp(-a * math.log1p(tt / df)) * math.sqrt(y / math.pi) * _ratio(a)
    if x < (a + 1.0) / (a + 2.5):
        return front * _fraction(a, 0.5, x) / a
    return 1.0 - 2.0 * front * _fraction(0.5, a, y)


def below(t: float, df: float) -> float:
    """Returns P(T <= t)."""
    half = two_sided(abs(t), df) / 2
    return half if t < 0 else 1.0 - half


def f_above(f: float, df: float, of_error: float) -> float:
    """Returns P(F > f) for f >= 0 and two degrees of freedom: I_x(of_error/2, df/2) at x = of_error/(of_error + df f) (DLMF 8.17.5)."""
    a, b, scaled = of_error / 2, df / 2, df * f / of_error
    if scaled == 0.0 or math.isinf(scaled):
        return 1.0 if scaled == 0.0 else 0.0
    x, y = 1.0 / (1.0 + scaled), scaled / (1.0 + scaled)
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(scale - a * math.log1p(scaled) - b * math.log1p(1.0 / scaled))
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _fraction(a, b, x) / a
    return 1.0 - front * _fraction(b, a, y) / b


def _ratio(a: float) -> float:
    """Returns gamma(a + 1/2) / gamma(a); for large a by its series (DLMF 5.11.13)."""
    if a < _LARGE:
        return math.gamma(a + 0.5) / math.gamma(a)
    b = 1.0 / a
    return math.sqrt(a) * math.exp(b * (-1 / 8 + b * b * (1 / 192 + b * b * (-1 / 640 + b * b * 17 / 14336))))


def _fraction(a: float, b: float, x: float) -> float:
    """Evaluates the continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method."""
    c, d = 1.0, 1.0 / _away(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, 10_000):
        for part in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1.0 / _away(1.0 + part * d)
            c = _away(1.0 + part / c)
            value *= c * d
        if abs(c * d - 1.0) < 1e-16:
            break
    return value


def _away(x: float) -> float:
    return x if abs(x) > _TINY else _TINY


def factor(alpha: float, df: float) -> float:
    """Returns the t that |T| exceeds with probability `alpha`, by bisection and Newton steps within the bracket."""
    low, high = 0.0, 1.0
    while two_sided(high, df) > alpha:
        low, high = high, high * 2.0
    t = (low + high) / 2
    for _ in range(200):
        off = two_sided(t, df) - alpha
        if off > 0.0:
            low = t
        else:
            high = t
        # The density on both sides: the derivative of the probability.
        slope = 2.0 * _ratio(df / 2) / math.sqrt(math.pi * df) * math.exp(-(df + 1) / 2 * math.log1p(t * t / df))
        step = t + off / slope if slope > 0.0 else math.inf
        following = step if low < step < high else (low + high) / 2
        if abs(following - t) <= 2e-16 * t:
            return following
        t = following
    return t
