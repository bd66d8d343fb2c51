"""The words for verdicts: how each is called, marked and coloured. A new word is one entry here, and one colour in `look/page.css`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markupsafe import Markup

    from .claims import Judged


@dataclass(frozen=True)
class Word:
    """A verdict in words."""

    sign: str
    many: str
    """Plural: "3 hold"."""
    style: str
    """Its colour on a terminal."""
    always: bool = False
    """Counted even if no claim has it."""


WORDS: Mapping[str, Word] = {
    "holds": Word("✓", "hold", "green", True),
    "depends": Word("◐", "depend", "cyan"),
    "fails": Word("✕", "fail", "red", True),
    "not_reproduced": Word("!", "not reproduced", "magenta"),
    "inconclusive": Word("?", "inconclusive", "yellow", True),
}
"""In the order in which they are counted."""


def name(verdict: str) -> str:
    """Returns a verdict in words: "not reproduced"."""
    return verdict.replace("_", " ")


def counts(verdicts: Iterable[str | None]) -> dict[str, int]:
    """Verdicts by word, those left out that no claim has, unless they are always counted."""
    n = Counter(verdicts)
    return {v: n[v] for v, word in WORDS.items() if n[v] or word.always}


def told(n: Mapping[str, int]) -> str:
    """Counts in words.

    >>> told({"holds": 2, "fails": 1, "inconclusive": 0})
    '2 hold, 1 fails, 0 inconclusive'
    """
    return ", ".join(f"{k} {name(v) if k == 1 else WORDS[v].many}" for v, k in n.items())


def so_far(leanings: Iterable[str | None]) -> str:
    """How claims look without all of their runs.

    >>> so_far(["holds", None, "fails", "holds"])
    '2 hold, 1 fails'
    """
    return told({v: k for v, k in counts(leanings).items() if k}) or "no result yet"


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


def share_of(j: Judged) -> str:
    """Returns the share of a verdict; empty if there is none."""
    if j.share is not None:
        return percent(j.share.share)
    return percent(j.support) if j.support is not None else ""


def badge(verdict: str, so_far: str | None = None, share: str = "", why: str = "") -> Markup:
    """A verdict as it stands on a page; `so_far` is what it looks like without all of the runs, `why` shows under the pointer."""
    from markupsafe import Markup

    word = f"{so_far} so far" if so_far in WORDS and so_far != "inconclusive" else f"{WORDS[verdict].sign} {name(verdict)}"
    told = Markup(" <small>{}</small>").format(share) if share else ""
    title = Markup(' title="{}"').format(why) if why else ""
    return Markup('<span class="badge {}"{}>{}{}</span>').format(verdict, title, word, told)
