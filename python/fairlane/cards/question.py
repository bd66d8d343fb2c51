"""Questions: folders with `card.toml`, read and checked. A fault is shown with its line."""

from __future__ import annotations

import ast
import json
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

from .. import _core
from ..base.document import json_schema
from ..base.scenario import read_scenario
from ..claims import Check
from ..errors import FairlaneError, FolderError
from ..study.model import StudySpec
from ..study.reader import read_text
from ..study.sentences import faults
from .requirements import beyond
from .subject import Subject

FILE = "card.toml"
_SIGNS: dict[type[ast.cmpop], str] = {ast.LtE: "<=", ast.GtE: ">="}
_CLAIM_HELP = "write for instance claim = \"max(vs('delay')) <= bound\""


@lru_cache(maxsize=1)
def schema() -> dict[str, Any]:
    """Returns the JSON Schema of the keys of `card.toml` besides those of a study."""
    return json_schema("card-file")


@dataclass(frozen=True)
class Question:
    """A question as its file has it, for any subject."""

    key: str
    """Name of its folder."""
    path: Path
    kind: str
    """Subjects that it is for: queue, cc, l4s or media."""
    text: str
    """The file."""
    question: str
    section: str
    """Document and section that ask it."""
    claim: str = ""
    bound: float = 0.0
    tolerance: float = 0.0
    unit: str = ""
    why: str = ""
    source: str = ""
    """Document that gives the bound; "" if none does."""
    applies: str = ""
    """Condition over the metrics; where it is false, the question does not apply."""
    otherwise: str = ""
    """Reason why it does not apply."""
    left_out: str = ""
    """Reason why no simulation answers it; "" if one does."""
    missing: str = ""
    """Meaning of a value of the claim that does not exist: then the answer is a fail, else "not applicable"."""
    measure: str = ""
    """"cost", "memory" or "packet_memory": the answer is measured on this machine instead of simulated."""
    quick: bool = True

    @property
    def metrics(self) -> dict[str, str]:
        """The metrics by the names that the claim has for them."""
        found = {} if self.measure or self.left_out else tomllib.loads(self.text).get("metrics", {})
        return {k: str(v) for k, v in found.items()} if isinstance(found, dict) else {}

    @property
    def basis(self) -> str:
        """Who gives the bound, in words."""
        return f"The bound is that of {self.source}." if self.source else "No document gives this bound; it is ours."

    @property
    def sign(self) -> str:
        """`<=` or `>=`: the side of the bound that passes."""
        return parts_of(self.claim)[1]

    @property
    def number(self) -> str:
        """Expression for the number that is compared with the bound."""
        return parts_of(self.claim)[0]

    def study(self, subject: Subject, plugins: Iterable[str] = ()) -> StudySpec:
        """Returns the study of the question for a subject; raises `ScenarioError` with the places of what is wrong."""
        text = subject.filled(self.text)
        spec = read_text(text, str(self.path / FILE), plugins=plugins, more=schema())
        found = [
            (["claim" if word is self.number else "applies"], False, "", message, help)
            for word in (self.number, self.applies)
            if word
            for message, help in faults(word, [m.label for m in spec.metrics], spec.factors, None)
        ]
        if found:
            raise _core.remarks(text, str(self.path / FILE), "toml", found)
        return spec

    def check(self) -> Check:
        """Returns the claim with its bound."""
        return Check(f"({self.number}) {self.sign} {self.bound!r}")


@lru_cache(maxsize=256)
def parts_of(claim: str) -> tuple[str, str]:
    """Splits a claim into the expression of its number and its sign.

    >>> parts_of("max(vs('delay')) <= bound")
    ("max(vs('delay'))", '<=')
    """
    try:
        tree = ast.parse(claim.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise FairlaneError("the claim is not an expression") from None
    if isinstance(tree, ast.Compare) and len(tree.ops) == 1:
        sign, right = _SIGNS.get(type(tree.ops[0])), tree.comparators[0]
        left = ast.get_source_segment(claim.strip(), tree.left)
        if sign is not None and left and isinstance(right, ast.Name) and right.id == "bound":
            return left, sign
    raise FairlaneError("a claim compares one number with the bound: EXPRESSION <= bound, or EXPRESSION >= bound")


def read_question(folder: str | PathLike[str], kind: str = "") -> Question:
    """Reads the question in a folder; `kind`: that of the other questions, unless its file says `subject`.

    Raises `ScenarioError` with line and column of what is wrong in the file itself; `Question.study` checks the scenario.
    """
    place = Path(folder)
    file = place / FILE
    if not place.is_dir():
        raise FolderError(f"{place}: folder not found\n  = help: `fairlane new card KEY` writes a folder with a question")
    if not file.is_file():
        raise FolderError(f"{place} has no question: it lacks {FILE}\n  = help: `fairlane new card KEY` writes a folder with a question")
    text, name, form = read_scenario(file)
    tree = json.loads(_core.read_document(text, name, form, '{"type": "object", "additionalProperties": true}'))
    loose = json.loads(json.dumps(schema()))
    loose["additionalProperties"] = True
    if "left_out" in tree:
        loose["required"] = ["question", "section"]
    _core.read_document(text, name, form, json.dumps(loose))
    found = []
    if "left_out" not in tree:
        try:
            parts_of(tree["claim"])
        except FairlaneError as e:
            found.append((["claim"], False, "", str(e), _CLAIM_HELP))
        if "applies" in tree and "otherwise" not in tree:
            found.append((["applies"], True, "", "nothing says what it means that the condition is false", 'write otherwise = "REASON"'))
    if tree.get("tolerance", 0) < 0:
        found.append((["tolerance"], False, "", "a tolerance is zero or above", "write how far beyond the bound is only a concern"))
    empty = [key for key in schema()["properties"] if key != "unit" and tree.get(key) in ("", [])]
    found += [([key], False, "", f"`{key}` is empty", f'write {key} = "..."') for key in empty]
    section = tree["section"] if isinstance(tree["section"], str) else "; ".join(tree["section"])
    if wrong := beyond(section):
        found.append((["section"], False, "", wrong, "`fairlane card list --requirements` has the sections that ask for something"))
    if found:
        raise _core.remarks(text, name, form, found)
    own = {k: tree[k] for k in schema()["properties"] if k in tree and k not in ("subject", "section")}
    return Question(key=place.resolve().name, path=place, kind=tree.get("subject", kind or "queue"), text=text, section=section, **own)
