"""Parameter settings: one value for each parameter that a paper does not state, or that a study varies.

Unstated parameters are declared with their plausible values (`Open`, `Span`, `Levels`); `design` draws settings from all of them
together, `near` more around some of them; `share` says in how many a claim holds, `changes_at` where it changes, `judge` the word for it,
and `matters` which of the parameters move a number. The field speaks of multiverse analysis (Steegen et al., Perspectives on Psychological
Science 11, 2016), of the specification curve (Simonsohn, Simmons and Nelson, Nature Human Behaviour 4, 2020) and, where settings are held
against measured numbers, of history matching (Vernon, Goldstein and Bower, Bayesian Analysis 5, 2010).

>>> opens = [Open("limit", "50p", Span("10p", "100p"), "not published"), Open("sack", False, Levels((True, False)), "not named")]
>>> design(opens, 3)[0]
{'limit': '50p', 'sack': False}
"""

from __future__ import annotations

from .boundaries import Boundaries, changes_at, decisive, matters
from .design import design, key_of, near, size
from .grades import GRADES, VERDICTS, Verdict, elsewhere, grade, grades, same_everywhere, settled, summarise
from .model import Levels, Open, OpenError, Setting, Span, Value, base_of, check_opens, check_setting, setting_text, text_of
from .verdicts import WORDS, Boundary, Judgement, Share, Word, judge, share

__all__ = [
    "GRADES",
    "VERDICTS",
    "Verdict",
    "elsewhere",
    "grade",
    "grades",
    "same_everywhere",
    "summarise",
    "Judgement",
    "Levels",
    "Open",
    "OpenError",
    "Share",
    "Span",
    "Boundary",
    "Boundaries",
    "Value",
    "WORDS",
    "Word",
    "Setting",
    "base_of",
    "check_opens",
    "check_setting",
    "decisive",
    "design",
    "judge",
    "key_of",
    "matters",
    "near",
    "settled",
    "share",
    "size",
    "text_of",
    "setting_text",
    "changes_at",
]
