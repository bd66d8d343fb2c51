"""The words for verdicts: how each is called, marked and coloured. A new word is one entry here, and one colour in `look/page.css`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..multiverse import Boundary

if TYPE_CHECKING:
    from markupsafe import Markup


@dataclass(frozen=True)
class Word:
    """A verdict in words."""

    name: str
    sign: str
    one: str
    """With one claim: "1 is supported"."""
    many: str
    """With several: "3 are supported"."""
    style: str
    """Its colour on a terminal."""
    always: bool = False
    """Counted even if no claim has it."""


WORDS: Mapping[str, Word] = {
    "supported": Word("supported", "✓", "is supported", "are supported", "green", True),
    "depends": Word("depends", "◐", "depends on what it does not state", "depend on what it does not state", "cyan", True),
    "only_in_paper_setup": Word(
        "only in the paper's setup", "◌", "holds only in its own setup", "hold only in its own setup", "magenta"
    ),
    "contradicted": Word("contradicted", "✕", "is contradicted", "are contradicted", "red", True),
    "inconsistent_in_print": Word(
        "inconsistent in print", "≠", "rests on published values that cannot be", "rest on published values that cannot be", "blue"
    ),
    "inconclusive": Word("inconclusive", "?", "is inconclusive", "are inconclusive", "yellow"),
}  # fmt: skip
"""In the order in which they are counted."""

VALUES: Mapping[str, Word] = {
    "reproduced": Word("reproduced", "✓", "is reproduced", "are reproduced", "green"),
    "not_reproduced": Word("not reproduced", "!", "is not reproduced", "are not reproduced", "magenta"),
}
"""Verdicts on published values, besides "depends" and "inconclusive"."""


def word(verdict: str) -> Word:
    """Returns the words of a verdict on a claim, or on published values."""
    return WORDS.get(verdict) or VALUES[verdict]


def counts(verdicts: Iterable[str | None]) -> dict[str, int]:
    """Verdicts by word, those left out that no claim has, unless they are always counted."""
    n = Counter(verdicts)
    return {v: n[v] for v, word in WORDS.items() if n[v] or word.always}


def phrases(n: Mapping[str, int]) -> list[str]:
    """Returns the counts as phrases, those of zero left out.

    >>> phrases({"supported": 2, "depends": 0, "contradicted": 1})
    ['2 are supported', '1 is contradicted']
    """
    return [f"{k} {WORDS[v].one if k == 1 else WORDS[v].many}" for v, k in n.items() if k]


def listed(parts: list[str]) -> str:
    """Joins phrases to a list.

    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def percent(share: float) -> str:
    """Returns a share in percent; 100 % and 0 % stand for exactly all and none.

    >>> percent(0.25), percent(1.0), percent(0.999), percent(0.004)
    ('25 %', '100 %', '99.9 %', '0.4 %')
    """
    p = 100 * share
    rounded = round(p, 1) if 0 < p < 1 or 99 < p < 100 else round(p)
    if rounded in (0, 100) and rounded != p:
        return "< 0.1 %" if rounded == 0 else "> 99.9 %"
    return f"{rounded:g} %"


def here_text(claim: Mapping[str, Any]) -> str:
    """Returns the result in the paper's setup, from the entry of a claim in the JSON document.

    >>> here_text({"in_paper_setup": "yes", "runs_true": 9, "runs": 10}), here_text({"in_paper_setup": None})
    ('yes (9 of 10 runs)', 'not run')
    """
    if claim["in_paper_setup"] is None:
        return "not run"
    even = "; their means decide" if 2 * claim["runs_true"] == claim["runs"] else ""
    runs = f"{'recorded ' if claim.get('recorded') else ''}run{'' if claim['runs'] == 1 else 's'}"
    return f"{claim['in_paper_setup']} ({claim['runs_true']} of {claim['runs']} {runs}{even})"


def elsewhere_text(claim: Mapping[str, Any]) -> str:
    """Returns the result in other plausible setups, from the same entry.

    >>> share = {"share": 0.88, "share_low": 0.84, "share_high": 0.92}
    >>> elsewhere_text({"elsewhere": "mostly", "settings": 256, "same_everywhere": False, **share})
    'mostly (88 %, 84 to 92 % of 256 settings)'
    """
    if claim["same_everywhere"]:
        return "the same everywhere: nothing that the paper does not state touches these runs"
    if claim["share"] is None:
        return "not sampled"
    low, high = percent(claim["share_low"]), percent(claim["share_high"])
    whole = " rerun in full" if claim.get("whole") else ""
    grade = claim["elsewhere"] if claim["elsewhere"].count(" or ") < 2 else "unclear"
    return f"{grade} ({percent(claim['share'])}, {low.removesuffix(' %')} to {high} of {claim['settings']} settings{whole})"


SEVERAL = "several parameters together"
"""On what a claim depends that no parameter decides alone."""


def conditions(boundaries: Sequence[Boundary]) -> list[str]:
    """Returns where a claim holds more often, each with both shares; a boundary within another one of the same parameter is left out.

    >>> conditions([Boundary("window", "62p", "above", 0.9, 0.2), Boundary("window", "50p", "above", 0.5, 0.1, "window below 62p")])
    ['window above 62p (in 90 % of these settings, 20 % of the others)']
    """
    return [
        f"{b} (in {percent(b.share_there)} of these settings, {percent(b.share_else)} of the others)"
        for b in boundaries
        if not any(part.startswith((f"{b.name} above ", f"{b.name} below ")) for part in b.where.split(" and "))
    ]


def label(claim: Mapping[str, Any]) -> str:
    """Returns the verdict as the text of a badge: "depends on TCP window"."""
    verdict = claim["verdict"]
    name = claim["depends_on"]["name"] if claim.get("depends_on") else SEVERAL
    return f"depends on {name}" if verdict == "depends" else WORDS[verdict].name


def closest_text(claim: Mapping[str, Any]) -> str:
    """Returns the result of the directed search for a claim; empty without one."""
    c = claim.get("closest")
    if not c:
        return ""
    kept = "with the other published values kept near" if c["constrained"] else "whatever the other published values"
    median = c["median_difference"]
    far = "" if median is None else f", where the median deviation from the published values is {percent(median)}"
    at = f"at {c['setting']}" if c["setting"] != "declared" else "at the setting of our tables"
    n, true = f"A directed search over {c['evaluated']} settings", round(c["reached"] * c["seeds"])
    if c["reached"] > 0.5:
        return f"{n} found one in which it holds in {true} of {c['seeds']} runs, {kept}: {at}{far}."
    margin = f"margin {c['margin']:.2g}" if c["margin"] else "the two numbers are equal"
    some = f", and true in {true} of {c['seeds']} runs" if true else ""
    return f"{n}, {kept}, found none in which it holds; closest: {margin}{some}, {at}{far}."


def badge(verdict: str, text: str = "", why: str = "") -> Markup:
    """A verdict as it stands on a page; `text` replaces its name, `why` shows under the pointer."""
    from markupsafe import Markup

    w = word(verdict)
    title = Markup(' title="{}"').format(why) if why else ""
    return Markup('<span class="badge {}"{}>{} {}</span>').format(verdict, title, w.sign, text or w.name)
