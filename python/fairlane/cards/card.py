"""`Card`: the questions of a kind, asked of one subject and answered; replications are added until a verdict is sure."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..base.files import save_bytes
from ..base.format import quantity
from ..base.outputs import kept_text
from ..claims import BadCheck, NoData
from ..errors import FairlaneError, FolderError, ScenarioError
from ..runs.selection import unit_of, within_of
from ..stats import interval
from ..study import Study, StudyResult
from ..study.executors import WorkerPool, choose
from ..study.labels import level
from ..study.terminal import reasons
from .judge import NOTHING, ROUNDS, Answer, Numbers, judged, sentence
from .measured import measured
from .outcome import CardOutcome
from .question import Question
from .subject import VARIANTS, Subject, check, one

CardProgress = Callable[[int, int, str, int], object]
"""Called with the number of answered questions, that of all, the key of the present one, and the runs so far."""
HEAD = "card.json"
RUNS = "runs"
"""Folder of the runs of all questions, which share those that are the same."""


class Card(CardOutcome):
    """The answers about one subject, with their document, page and table."""

    def document(self) -> dict[str, Any]:
        """The document that `fairlane card --json` prints."""
        from .document import card_document

        return card_document([self])

    def page(self, path: str | PathLike[str] | None = None, *, force: bool = False) -> str:
        """Returns an HTML page that opens offline; `path`: also writes it, and replaces an existing file only with `force`."""
        from .page import page

        return kept_text(lambda: page([self]), path, force=force)

    def __str__(self) -> str:
        from ..look.sheet import plain
        from .terminal import report

        return plain(*report([self]))

    def __repr__(self) -> str:
        return f"Card({self.subject.title}: {self.summary})"


def answer_questions(
    subject: Subject,
    asked: Sequence[Question],
    folder: str | PathLike[str] | None = None,
    *,
    quick: bool = False,
    plugins: Iterable[str] = (),
    pool: WorkerPool | None = None,
    progress: CardProgress | None = None,
) -> Card:
    """Answers questions about a subject. Runs are kept in `folder`, and those that are there are not repeated.

    All questions are read before anything runs. `quick`: five replications and no more.
    """
    if folder is None:
        with TemporaryDirectory(prefix="fairlane-card-") as temporary:
            return answer_questions(subject, asked, temporary, quick=quick, plugins=plugins, pool=pool, progress=progress)
    check(subject)
    place, files = _opened(Path(folder), subject), tuple(plugins)
    workers = pool or choose()
    studies = [(q, None if q.left_out or q.measure else _planned(q, subject, files)) for q in asked]
    answers: list[Answer] = []
    for i, (question, study) in enumerate(studies):
        done = sum(a.runs for a in answers)

        def told(runs: int, i: int = i, key: str = question.key, done: int = done) -> None:
            if progress is not None:
                progress(i, len(studies), key, done + runs)

        told(0)
        answers.append(_answered(question, subject, study, place, workers, ROUNDS[:1] if quick else ROUNDS, told))
    return Card(subject, tuple(answers), quick, files)


def _planned(question: Question, subject: Subject, plugins: Sequence[str]) -> Study | str:
    """Returns the study of a question, or why it cannot be asked of this subject; raises `ScenarioError` if it can be asked of none."""
    if VARIANTS in question.text and len(subject.variants()) == 1:
        return "it has no parameter that is a number, apart from its limit"
    try:
        study = Study(question.study(subject, plugins))
        study.plan()
    except ScenarioError as e:
        if e.diagnostics and _can_be_asked(question):
            return f"the scenario cannot have it: {e.diagnostics[0]['message']}"
        raise
    return study


def _can_be_asked(question: Question) -> bool:
    """Returns true if a question has no fault of its own."""
    try:
        Study(question.study(one(question.kind))).plan()
    except FairlaneError:
        return False
    return True


def _opened(folder: Path, subject: Subject) -> Path:
    """Returns the folder of a card; raises `FolderError` if it holds something else."""
    head = {"card": subject.kind, "subject": subject.value, "queue": subject.queue.value if subject.queue else None}
    file = folder / HEAD
    if folder.exists():
        if not folder.is_dir():
            raise FolderError(f"{folder} is a file, not a folder: choose another name with --out")
        try:
            known = json.loads(file.read_text("utf-8")) if file.is_file() else None
        except (OSError, ValueError):
            known = None
        if known != head and (known is not None or any(folder.iterdir())):
            what = "the card of another subject" if known is not None else "other files"
            raise FolderError(f"{folder} holds {what}: choose another folder with --out")
    folder.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        save_bytes(file, (json.dumps(head, indent=1) + "\n").encode())
    return folder


def _answered(
    question: Question,
    subject: Subject,
    study: Study | str | None,
    folder: Path,
    workers: WorkerPool,
    rounds: Sequence[int],
    progress: Callable[[int], object],
) -> Answer:
    began = time.monotonic()
    if question.left_out:
        return Answer(question, "not applicable", NOTHING, question.left_out)
    if isinstance(study, str):
        return Answer(question, "not applicable", NOTHING, study)
    if study is None:
        return replace(measured(question, subject), seconds=time.monotonic() - began)
    seeds: list[int] = []
    answer, result = Answer(question, "not applicable", NOTHING, ""), None
    for n in rounds:
        seeds = list(range(1, n + 1))
        ran = len(study.plan().combinations) * n
        result = Study(replace(study.spec, seeds=tuple(seeds), keep="selected")).run(folder / RUNS, pool=workers)
        progress(ran)
        answer, decided = _judged(question, result, seeds, len(rounds))
        if decided:
            break
    assert result is not None
    heads, rows = _table(result)
    return replace(answer, heads=heads, rows=rows, seconds=time.monotonic() - began, runs=result.index.height)


def _judged(question: Question, result: StudyResult, seeds: Sequence[int], looks: int) -> tuple[Answer, bool]:
    """Returns the answer from the runs so far, and true if no more are needed."""
    if result.failures.height:
        error = reasons(result)[0][1].strip()
        first, *rest = error.splitlines()
        short = f"{first}: {rest[-1].strip()}" if rest else first
        words = f"{result.failures.height} of {result.index.height} runs failed: {short}"
        return Answer(question, "fail", NOTHING, words, error=error), True
    numbers = Numbers(result, seeds)
    if not numbers.applies(question):
        return Answer(question, "not applicable", NOTHING, question.otherwise), True
    try:
        values = numbers.of(question.check())
    except NoData:
        if question.missing:
            return Answer(question, "fail", NOTHING, question.missing), True
        return Answer(question, "not applicable", NOTHING, "a value that the claim reads is missing"), True
    except BadCheck as e:
        return Answer(question, "fail", NOTHING, f"the number does not exist: {e}"), True
    word, iv, decided = judged(values, question, looks)
    return Answer(question, word, iv, sentence(word, iv, question, decided), tuple(values)), decided


def _table(result: StudyResult) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Returns the means of all metrics at each combination."""
    spec = result.spec
    rows = []
    for c in result.combinations:
        cells = [level(f, c.labels[f.name]) for f in spec.factors]
        for s in spec.metrics:
            values = list(result.per_seed(s.label, c).values())
            cells.append(quantity(interval(values, within=within_of(s), unit=unit_of(s)), unit_of(s)))
        rows.append(tuple(cells))
    return (*result.factors, *result.metrics), tuple(rows)
