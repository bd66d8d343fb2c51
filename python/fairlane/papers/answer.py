"""The first sentence of a reproduction: are the paper's conclusions right?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from .verdicts import SEVERAL, WORDS, counts, listed, phrases

Entry = Mapping[str, Any]
"""A claim as the JSON document has it."""


def answer(claims: Sequence[Entry]) -> str:
    """Returns the result of a study: its claims by verdict, then its main conclusions.

    >>> entry = {"verdict": "supported", "depends_on": None, "main": "RED shortens the queue"}
    >>> answer([entry, {**entry, "main": None, "verdict": "contradicted"}])
    "Of the paper's 2 conclusions, 1 is supported and 1 is contradicted. Its main conclusion, that RED shortens the queue, is supported."
    """
    main = [c for c in claims if c["main"]]
    return " ".join(filter(None, (tally(claims), mains(main))))


def tally(claims: Sequence[Entry], several: bool = False) -> str:
    """Returns the claims by verdict, in one sentence; `several`: they are those of several papers."""
    if not claims:
        return ""
    of = "the papers'" if several else "the paper's"
    n = {v: k for v, k in counts(c["verdict"] for c in claims).items() if k}
    if len(n) == 1:
        (verdict,) = n
        words = f"{of[0].upper()}{of[1:]} one conclusion {WORDS[verdict].one}" if len(claims) == 1 else ""
        return _plural(words or f"All of {of} {len(claims)} conclusions {WORDS[verdict].many}", several) + "."
    parts = phrases(n)
    if n.get("depends", 0) > 1 and (most := most_frequent(claims)):
        name, k = most
        parts[[*n].index("depends")] += f" ({'all' if k == n['depends'] else k} of them on {name})"
    return _plural(f"Of {of} {len(claims)} conclusions, {listed(parts)}", several) + "."


def _plural(words: str, several: bool) -> str:
    return words.replace("it does not state", "they do not state").replace("its own setup", "their own setups") if several else words


def most_frequent(claims: Sequence[Entry]) -> tuple[str, int] | None:
    """Returns the unstated parameter on which more claims depend than on any other, in words, and their number; None if none leads."""
    names = Counter(in_words(c) for c in claims if c["verdict"] == "depends" and c["depends_on"])
    ranked = names.most_common(2)
    return ranked[0] if ranked and ranked[0][1] > 1 and (len(ranked) < 2 or ranked[0][1] > ranked[1][1]) else None


def in_words(claim: Entry) -> str:
    """Returns the parameter that decides a claim: what its name stands for, or else the name."""
    of: Mapping[str, str] = claim["depends_on"]
    return of.get("phrase") or of["name"]


def mains(claims: Sequence[Entry]) -> str:
    """Returns the main conclusions with their verdicts, in one sentence; empty if none is declared."""
    if not claims:
        return ""
    if len(claims) == 1:
        return f"Its main conclusion, that {claims[0]['main']}, {verb(claims[0])}."
    each = [f"{c['main']} ({in_brackets(c)})" for c in claims]
    return f"Its main conclusions: {'; '.join(each)}."


def verb(claim: Entry) -> str:
    """Returns a verdict as the verb of a sentence: "depends on the largest window of TCP"."""
    return _decided(claim) or WORDS[claim["verdict"]].one.replace("its own", "the paper's own")


def in_brackets(claim: Entry) -> str:
    """Returns a verdict as it stands behind a conclusion: "supported", "depends on the largest window of TCP"."""
    return _decided(claim) or WORDS[claim["verdict"]].name


def _decided(claim: Entry) -> str:
    if claim["verdict"] != "depends":
        return ""
    return f"depends on {in_words(claim) if claim['depends_on'] else SEVERAL}"
