"""Conclusions about pairs of settings: different, equivalent or inconclusive, corrected for the number of pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ..errors import FairlaneError
from .intervals import ANY, CONFIDENCE, Range
from .pairs import Difference, Equivalence, Values, holm, paired, tost, welch

MARGIN = "5%"
"""Default equivalence margin: a share of the second mean."""

Finding = Literal["more", "less", "equivalent", "inconclusive"]


@dataclass(frozen=True, slots=True)
class Contrast:
    """Comparison of setting `a` with setting `b`."""

    difference: Difference
    """Difference, paired by seed if both have the same seeds, with the interval of this pair alone."""
    equivalence: Equivalence | None
    """Equivalence test within `margin`; None without a mean for a relative margin."""
    margin: float | str
    p: float | None
    """p-value of the difference, corrected for the number of contrasts (Holm)."""
    p_equivalent: float | None
    """p-value of the equivalence, corrected for the number of contrasts (Holm)."""
    small: bool
    """True if they differ by less than the margin, significantly different or not."""
    finding: Finding
    """more, less: `a` compared with `b` (`p` is small); equivalent (`p_equivalent` is small); otherwise inconclusive."""

    @property
    def identical(self) -> bool:
        """True if both have the same value in every run."""
        return _identical(self.difference)

    @property
    def words(self) -> str:
        """The finding in words, without names: "no significant difference (p = 0.4)"."""
        n = self.difference.difference.n
        if n == 0 or self.difference.difference.value is None:
            return "no value on one side"
        if self.p is None:
            return "one run each: no test of a difference is possible"
        if self.identical:
            return f"the same in all {n} runs"
        if self.finding == "equivalent":
            return f"equivalent within {margin_text(self.margin)} (TOST {p_text(self.p_equivalent)})"
        if self.finding == "inconclusive":
            return f"no significant difference ({p_text(self.p)})"
        small = f", but by less than {margin_text(self.margin)}" if self.small else ""
        return f"{self.finding}{small} ({p_text(self.p)})"


def contrasts(
    pairs: Iterable[tuple[Values, Values]],
    margin: float | str = MARGIN,
    confidence: float = CONFIDENCE,
    common_seeds: bool | Sequence[bool] = True,
    within: Range | Sequence[Range] = ANY,
) -> list[Contrast]:
    """Compares each pair of samples: `paired` for a difference, `tost` for equivalence within `margin`.

    `common_seeds` is true if the samples of a pair have common seeds, for all pairs or for each; without them `welch` replaces `paired`.
    `within` is the range of the values, for all pairs or for each.

    Both kinds of p-values are corrected by `holm` for all pairs of the call. Of each pair at most one of the hypotheses "no difference"
    and "the margin or more" is true, so the probability of any false conclusion is at most 1 - `confidence`.

    An inconclusive pair may differ, and a significant difference may be smaller than the margin.

    >>> [c.finding for c in contrasts([([3.0, 3.1, 2.9], [1.0, 1.1, 1.2]), ([3.0, 1.0, 2.0], [2.0, 2.0, 1.0])])]
    ['more', 'inconclusive']
    """
    lists = [(list(a), list(b)) for a, b in pairs]
    common = [common_seeds] * len(lists) if isinstance(common_seeds, bool) else list(common_seeds)
    ranges = [within] * len(lists) if isinstance(within, tuple) else list(within)
    differences = [(paired if same else welch)(a, b, confidence, of) for (a, b), same, of in zip(lists, common, ranges, strict=True)]
    tests = [_tost(a, b, d, margin, confidence) for (a, b), d in zip(lists, differences, strict=True)]
    ps = holm([d.p for d in differences])
    qs = holm([None if t is None else t.p for t in tests])
    out = []
    for d, t, p, q in zip(differences, tests, ps, qs, strict=True):
        small = (q is not None and q < 1.0 - confidence) or _identical(d)
        finding: Finding = "equivalent" if small else "inconclusive"
        if p is not None and p < 1.0 - confidence:
            finding = "more" if (d.difference.value or 0.0) > 0.0 else "less"
        out.append(Contrast(d, t, margin, p, q, small, finding))
    return out


def _identical(d: Difference) -> bool:
    return d.paired and d.p is not None and d.difference.value == d.difference.low == d.difference.high == 0


def _tost(a: Values, b: Values, d: Difference, margin: float | str, confidence: float) -> Equivalence | None:
    """Returns the equivalence test; None without a mean for a relative margin."""
    if d.p is None or (isinstance(margin, str) and not d.b.mean):
        return None
    return tost(a, b, margin, d.paired, confidence)


def p_text(p: float | None) -> str:
    """Formats a p-value.

    >>> p_text(0.4), p_text(0.0123), p_text(1e-9)
    ('p = 0.4', 'p = 0.012', 'p < 0.001')
    """
    if p is None:
        return "no test"
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}" if p < 0.9995 else "p = 1"


def margin_text(margin: float | str) -> str:
    """Formats a margin: "5 %".

    >>> margin_text("5%"), margin_text(0.02)
    ('5 %', '0.02')
    """
    return f"{margin.strip().removesuffix('%').strip()} %" if isinstance(margin, str) else f"{margin:g}"


def margin_share(margin: float | str) -> str:
    """Returns a relative margin as text: "5%", also for 0.05.

    >>> margin_share(0.05), margin_share(" 2.5 %")
    ('5%', '2.5%')
    """
    text = f"{100 * margin:g}%" if isinstance(margin, (int, float)) and not isinstance(margin, bool) else str(margin).strip()
    try:
        share = float(text.removesuffix("%"))
    except ValueError:
        share = 0.0
    if not text.endswith("%") or not 0 < share < 100:
        raise FairlaneError(f'cannot read the margin {margin!r}: write a share between 0 and 100 %, such as "5%"')
    return margin_text(text).replace(" ", "")
