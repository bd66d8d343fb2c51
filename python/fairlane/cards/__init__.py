"""Report cards: the questions that RFCs ask of a queue or a congestion control, answered by simulations.

A question is a folder with `card.toml`: a study, a claim over its metrics, a bound, and the section that asks. docs/guides/report-cards.md
explains them.
"""

from __future__ import annotations

from .card import Card, CardProgress, answer_questions
from .folders import questions
from .judge import Answer
from .overview import Overview
from .question import Question, read_question
from .subject import KINDS, Subject, subjects

__all__ = [
    "KINDS",
    "Answer",
    "Card",
    "CardProgress",
    "Overview",
    "Question",
    "Subject",
    "answer_questions",
    "questions",
    "read_question",
    "subjects",
]
