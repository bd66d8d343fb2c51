"""`StudyAnalysis`: the tables of a study with its statistics, the verdicts on its claims, and its warnings."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING

import polars as pl

from .model import Label
from .tables import StudyTables, listed

if TYPE_CHECKING:
    from ..stats import Anova
    from .verdicts import StudyClaim


class StudyAnalysis(StudyTables):
    """Statistics of a study's runs: the part of `StudyResult` that presents nothing."""

    # --- statistics -----------------------------------------------------------------------------------

    def anova(self, metric: str, order: int = 2) -> Anova:
        """Returns the variance of a metric that the factors explain: main effects, and interactions of up to `order`; see
        `fairlane.stats.anova`.

        The seeds are blocks: what a seed does to all combinations alike is no chance when combinations are compared.
        """
        from .contrast import anova

        return anova(self, metric, order)

    def effects(self, metric: str, order: int = 1) -> pl.DataFrame:
        """For each factor and level the mean of a metric over everything else with its interval, and how far that is from the mean of all.

        `order` = 2 adds all pairs of levels; see `fairlane.stats.effects`.
        """
        from .contrast import effects

        return effects(self, metric, order)

    def compare(self, metric: str, factor: str, *, baseline: Label | None = None, by: str | Iterable[str] = ()) -> pl.DataFrame:
        """Each level of a factor against one of them, seed by seed, so that what the seeds share cancels (common random numbers).

        The other factors are averaged over within each seed, but for those in `by`, whose levels are compared apart. `baseline` is the
        first level unless named. one row per comparison: the level, the two means, `difference` with its interval `low`, `high`, the same
        as `percent` of the baseline, `n` (pairs), `p` (paired t test), `p_holm` (corrected for all comparisons of the table),
        `p_equivalent` (that they differ by less than 5 %, corrected alike) and the `finding`: more, less, equivalent or inconclusive.
        """
        from .contrast import compare

        return compare(self, metric, factor, baseline, listed(by))

    def best(self, metric: str, goal: str | None = None) -> pl.DataFrame:
        """All combinations, the best first: factors, the mean with its interval, and how sure the first place is.

        `goal` is "max" or "min"; without it, less is better of delays, losses and what waits, more of the rest. `difference` is that
        from the best, paired by seed, `p_holm` its corrected p; `tied` says that it may be chance, and `finding` whether
        a combination is equivalent to the best (`p_equivalent`, within 5 %), which `tied` alone does not show.
        """
        from .contrast import best

        return best(self, metric, goal)

    # --- claims and settings ----------------------------------------------------------------------------

    @functools.cached_property
    def claims(self) -> list[StudyClaim]:
        """The verdict on each claim: `verdict`, `share` of settings in which it holds, `boundaries`, `matters`, `reason`."""
        from .verdicts import of_result

        return of_result(self)

    def settings(self) -> pl.DataFrame:
        """one row per setting: `setting`, a column for each varied parameter, and for each claim whether it holds there, and by what
        margin.

        A range is a number in SI units, a choice is text. A margin is the distance of the two sides over the larger one, from -1 to 1,
        above zero where the claim holds. Without rows if the study leaves nothing open.
        """
        from .verdicts import frame

        return frame(self, self.claims)

    def matters(self, metric: str) -> dict[str, float]:
        """For each varied parameter, the share of a metric's variance between settings that it accounts for alone, from 0 to 1.

        The metric is averaged over the other factors in each setting; see `fairlane.multiverse.matters`.
        """
        from .verdicts import of_metric

        return of_metric(self, metric)

    # --- what to check ---------------------------------------------------------------------------------

    @functools.cached_property
    def warnings(self) -> list[str]:
        """Warnings of runs, combinations that the seeds do not affect, and intervals that are too wide."""
        from .checks import warnings

        return [*self.notes, *warnings(self)]
