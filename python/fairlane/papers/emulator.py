"""Predicts a number in settings that were not run: a Gaussian process over all unstated parameters.

The mean is a second-degree polynomial of each parameter (its levels, where it has a few), without products; what that leaves is a
smooth function of all together, and noise (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, chapter 2.7). Its four
scales are those of the greatest marginal likelihood, and its error is measured by leaving out one setting after another (the same,
5.4.2). History matching asks such an emulator which settings can be ruled out (Vernon, Goldstein and Bower 2010).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.module_command import run_as_command
from ..multiverse import Levels, Open, Setting, design, near
from .full_reruns import Whole, called, recorded_whole
from .records import made_of, made_of_this, save_record
from .tables import number_in

if TYPE_CHECKING:
    from .definition import Paper

EMULATED = "emulated.csv"
_LEAST = 10
"""Fewest settings for a prediction."""
_Matrix = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Worth:
    """Accuracy of an emulator for unknown settings: each setting was left out once."""

    error: float
    """Root of the mean squared error."""
    spread: float
    """Standard deviation of the values themselves: the error of one who says their mean."""
    inside: float
    """Share of the values inside the predicted 95 % interval."""


class Emulator:
    """Says a number of any setting from that of some settings."""

    def __init__(self, opens: Sequence[Open], settings: Sequence[Setting], values: Sequence[float]) -> None:
        from scipy.optimize import minimize

        self._opens, self._x = opens, places(opens, settings)
        y = np.array(values, dtype=float)
        self._middle, self._scale = float(y.mean()), float(y.std()) or 1.0
        self._y = (y - self._middle) / self._scale
        starts = [np.log([1.0, 0.3, 1.0, 0.1]), np.log([0.3, 1.0, 3.0, 0.03])]
        bounds = [(-6.0, 4.0), (-8.0, 3.0), (-1.0, 3.0), (-7.0, 1.0)]
        fits = [minimize(self._unlikely, s, method="L-BFGS-B", bounds=bounds) for s in starts]
        self._theta = np.asarray(min(fits, key=lambda f: float(f.fun)).x)
        self._inverse = np.linalg.inv(self._covariance(self._theta))
        self._weights = self._inverse @ self._y

    def said(self, settings: Sequence[Setting]) -> tuple[_Matrix, _Matrix]:
        """Returns mean and standard deviation of the number in each setting, the noise of a run included."""
        x = places(self._opens, settings)
        across = _kernel(x, self._x, self._theta)
        own = np.exp(self._theta[0]) * (_features(x) ** 2).mean(axis=1) + np.exp(self._theta[1]) + np.exp(self._theta[3])
        variance = own - ((across @ self._inverse) * across).sum(axis=1)
        return self._middle + self._scale * (across @ self._weights), np.asarray(self._scale * np.sqrt(np.maximum(variance, 1e-12)))

    def worth(self) -> Worth:
        """Validates the emulator by leaving out each of its settings."""
        variance = 1.0 / np.diag(self._inverse)
        apart = self._weights * variance
        inside = float((np.abs(apart) <= 1.96 * np.sqrt(variance)).mean())
        return Worth(self._scale * float(np.sqrt((apart**2).mean())), self._scale * float(self._y.std()), inside)

    def _covariance(self, theta: _Matrix) -> _Matrix:
        return np.asarray(_kernel(self._x, self._x, theta) + np.exp(theta[3]) * np.eye(len(self._x)))

    def _unlikely(self, theta: _Matrix) -> float:
        """Minus the logarithm of the marginal likelihood."""
        from scipy.linalg import cho_factor, cho_solve

        factor = cho_factor(self._covariance(theta), lower=True)
        return float(self._y @ cho_solve(factor, self._y) / 2 + np.log(np.diag(factor[0])).sum())


def places(opens: Sequence[Open], settings: Sequence[Setting]) -> _Matrix:
    """The settings as points: a coordinate from -1 to 1 for each range, one for each level of what has levels."""
    columns: list[list[float]] = []
    for o in opens:
        if isinstance(o.over, Levels):
            at = [o.over.place(w[o.name]) for w in settings]
            columns += [[1.0 if abs(a - o.over.place(level)) < 1e-9 else -1.0 for a in at] for level in o.over.values]
        else:
            columns.append([2 * o.over.place(w[o.name]) - 1 for w in settings])
    return np.asarray(columns, dtype=float).T


def _features(x: _Matrix) -> _Matrix:
    return np.concatenate([np.ones((len(x), 1)), x, 1.5 * x**2 - 0.5], axis=1)


def _kernel(a: _Matrix, b: _Matrix, theta: _Matrix) -> _Matrix:
    f, g = _features(a), _features(b)
    square = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None, :] - 2 * a @ b.T
    smooth = np.exp(-np.maximum(square, 0) / (2 * a.shape[1] * np.exp(2 * theta[2])))
    return np.asarray(np.exp(theta[0]) * (f @ g.T) / f.shape[1] + np.exp(theta[1]) * smooth)


@dataclass(frozen=True)
class Emulated:
    """Predicted number of published values within a difference of ours, for many settings, from the full reruns."""

    least: float
    """The difference."""
    settings: int
    """Number of full reruns behind the prediction."""
    error: float
    spread: float
    inside: float
    """Share of the values inside the predicted interval; see `Worth`."""
    tried: int
    """Number of predicted settings: half sampled from all ranges, half around the best that were run."""
    needed: int
    """So many values it takes for a median below the difference."""
    ran: int
    """Most in a setting that was run."""
    best: float
    """Largest predicted number."""
    best_spread: float
    """Standard deviation there."""
    possible: int
    """Settings that are not ruled out: for which the number needed is within three standard deviations."""
    likeliest: float
    """The greatest probability that one setting has as many as needed."""

    def sentences(self, how: str = "") -> str:
        """Returns the prediction in sentences; `how` is the command that makes it."""
        of = "a Gaussian process over all unstated parameters" + (f": {how}" if how else "")
        text = (
            f"An emulator ({of}) predicts how many values would be within {100 * self.least:.0f} % in settings that were not run. It uses "
            f"{self.settings} full reruns. Its leave-one-out error is {self.error:.0f} values (the settings differ by {self.spread:.0f}), "
            f"and {100 * self.inside:.0f} % of the values are in the predicted 95 % interval. Of {self.tried} predicted settings, half "
            f"sampled from all ranges and half around the best, the best one has {self.best:.0f} ± {self.best_spread:.0f} values "
            "(one standard deviation)."
        )
        ruled = "values are within three standard deviations of the prediction (history matching)"
        if not self.possible:
            return f"{text} In none of them {self.needed} {ruled}."
        return f"{text} In {self.possible} of them {self.needed} {ruled}; the highest probability is {100 * self.likeliest:.2g} %."


TRIED = 8192
"""Number of predicted settings."""
_BEST, _FEW = 4, 8


def emulated(paper: Paper, whole: Whole, least: float) -> tuple[Emulated, list[Setting]]:
    """Predicts many settings from the full reruns; returns the summary and the best settings."""
    from scipy.stats import norm

    opens = paper.opens()
    settings = [s.values for s in whole.seen]
    counts = [whole.within(called(paper, w), least) for w in settings]
    e = Emulator(opens, settings, counts)
    nearest = [settings[i] for i in np.argsort([-c for c in counts], kind="stable")[:_BEST]]
    n = TRIED // 4
    others = [
        *design(opens, TRIED // 2),
        *near(opens, nearest, n, 0.5, 1, _FEW, settings),
        *near(opens, nearest, n, 0.25, 2, _FEW, settings),
    ]
    mean, spread = e.said(others)
    needed, order, worth = len(whole.places) // 2 + 1, np.argsort(-mean), e.worth()
    found = Emulated(
        least, len(settings), worth.error, worth.spread, worth.inside, len(others), needed, max(counts), float(mean[order[0]]),
        float(spread[order[0]]), int((needed <= mean + 3 * spread).sum()), float(norm.sf((needed - mean) / spread).max()),
    )  # fmt: skip
    return found, [others[i] for i in order[:3]]


def recorded_emulated(paper: Paper) -> Emulated | None:
    """Reads `emulated.csv` of a study's folder; None without the file. Raises if it was made of another study."""
    path = paper.folder / EMULATED
    if not path.exists():
        return None
    row = made_of_this(paper, path, ["made_of", *(f.name for f in fields(Emulated))], "emulator")[0]
    values = {f.name: (f.type, number_in(path, row[f.name]) or 0.0) for f in fields(Emulated)}
    return Emulated(**{name: int(x) if kind == "int" else x for name, (kind, x) in values.items()})  # type: ignore[arg-type]


def main(arguments: Sequence[str] | None = None) -> None:
    """Predicts from the full reruns of a study how many published values other settings would meet, and records it in its folder."""
    import argparse

    from .folders import load

    parser = argparse.ArgumentParser(prog="python -m fairlane.papers.emulator", description=main.__doc__)
    parser.add_argument("key", help="a study that comes with fairlane, or the folder of one")
    parser.add_argument(
        "--within", type=float, default=0.07, help="the relative difference from the published values within which a value is met (0.07)"
    )
    given = parser.parse_args(arguments)
    paper = load(given.key)
    whole = recorded_whole(paper)
    if whole is None or len(whole.seen) < _LEAST:
        parser.error(
            f"{given.key} records fewer than {_LEAST} settings run whole: python -m fairlane.papers.full_reruns {given.key} --first N"
        )
    found, best = emulated(paper, whole, given.within)
    row = {"made_of": made_of(paper), **asdict(found)}
    text = [",".join(row), ",".join(f"{x:.6g}" if isinstance(x, float) else str(x) for x in row.values()), ""]
    save_record(paper.folder / EMULATED, "\n".join(text).encode())
    print(text[1])
    for w in best:
        print(f'--with "{called(paper, w)}"')


if __name__ == "__main__":
    run_as_command(main)
