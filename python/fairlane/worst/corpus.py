"""A corpus of worst paths, one page for each algorithm: `python -m fairlane.worst.corpus FOLDER [NAME...]`.

Each congestion control is compared with CUBIC on paths of three kinds, CUBIC with BBRv3; each queue is compared with DropTail by three
metrics. `FOLDER.md` is the overview, `FOLDER/NAME.md` the page of an algorithm. Evaluations and findings are kept below `results`, so the
command resumes, and pages are written again without a run.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..base.files import save_bytes
from ..base.format import quantity
from ..base.reference import active
from ..errors import ScenarioWarning, suggest
from . import Finding, WorstPaths, WorstResult, WorstSpec
from .confirm import value_text
from .judge import network

BUDGET = 80
"""Paths of each search."""
QUEUES = ("droptail", "red", "codel", "pie", "pi2", "dualpi2", "fq_codel", "fq_pie", "cake", "sfq")
REFERENCES: dict[str, tuple[str, ...]] = {"cubic": ("bbr3",), "bbr3": ("cubic",), "droptail": ("fq_codel",)}
"""References of these; other controls are compared with CUBIC, and with BBRv3 where CUBIC is no better; other queues with DropTail."""
KINDS: dict[str, dict[str, Any]] = {
    "Constant paths": {"may": "rate,delay,queue"},
    "Losses, jitter and failures": {"may": "loss,bursts,jitter,outages"},
    "Changing rates and competing bursts": {"may": "steps,square,cross"},
}
"""Kinds of paths for a congestion control."""
METRICS: dict[str, dict[str, Any]] = {
    "Delay": {"most": "delay_p99"},
    "Use of the link": {"least": "utilisation"},
    "Losses of the stream": {"most": "flows.udp.loss"},
}
"""Metrics by which a queue is searched for its worst."""
RANKED = 4
"""Seeds with which all others run on a path that was found."""
BETTER = 3
"""Others that a page names."""


@dataclass
class Entry:
    """Finding of one search: a section of a page."""

    kind: str
    reference: str
    word: str
    """Name of the value."""
    unit: str
    tried: int
    found: bool
    summary: str
    """The finding in one sentence, or what was seen without one."""
    cells: list[str] = field(default_factory=list)
    """Subject, reference and difference on fresh seeds."""
    changes: list[str] = field(default_factory=list)
    """Names of the changes of the path."""
    better: list[list[str]] = field(default_factory=list)
    """The best others on this path: name and value."""
    rank: list[int] = field(default_factory=list)
    """Place of the subject among all, and their number."""
    limits: list[list[str]] = field(default_factory=list)
    """Who, and a sentence on what limits it."""
    scenario: str = ""
    picture: str = ""
    """File of its picture."""


def names() -> list[str]:
    """Returns every congestion control, and ten queues."""
    return [*active("cc"), *QUEUES]


def searches(name: str) -> dict[str, dict[str, Any]]:
    """Returns the arguments of the searches of an algorithm by their kind."""
    if name in QUEUES:
        return {k: {"queue": name, "paths": 1, **more} for k, more in METRICS.items()}
    return {k: {"tcp": name, "paths": 1, **more} for k, more in KINDS.items()}


def entries(name: str, folder: Path, budget: int = BUDGET) -> list[Entry]:
    """Returns what the searches of an algorithm find; what is kept in the folder is not searched again."""
    out = []
    references = REFERENCES.get(name, ("droptail",) if name in QUEUES else ("cubic", "bbr3"))
    for kind, arguments in searches(name).items():
        for reference in references:
            place = folder / f"{name}-{stem(kind)}{f'-{reference}' if reference != references[0] else ''}"
            file = place.with_suffix(".json")
            if not file.exists():
                result = WorstPaths(reference=reference, **arguments).run(place, budget=budget)
                save_bytes(file, json.dumps(asdict(_entry(kind, result))).encode())
            found = Entry(**json.loads(file.read_bytes()))
            found.picture = str(place / "1.svg") if found.found and name not in QUEUES else ""
            if found.found or reference == references[-1]:
                break
        out.append(found)
    return out


def stem(kind: str) -> str:
    """Returns the first word of a kind, for names of files."""
    return kind.split()[0].strip(",").lower()


def _entry(kind: str, r: WorstResult) -> Entry:
    s, o = r.spec, r.spec.objective
    entry = Entry(kind, s.reference, o.word, o.unit, r.evaluations, r.found, r.summary)
    if r.found:
        f = r.findings[0]
        entry.cells = [quantity(x, o.unit) for x in (f.own, f.other, f.effect)]
        entry.changes = list(f.shrunk.candidate)
        entry.limits = [[who, line] for who, lines in f.limits for line in lines]
        entry.scenario = f.scenario.strip()
        entry.better, entry.rank = _ranked(s, f)
    return entry


def _ranked(s: WorstSpec, f: Finding) -> tuple[list[list[str]], list[int]]:
    """Runs all others of the same sort on a path; returns the best ones, and the place of the subject."""
    others = [n for n in names() if (n in QUEUES) == (s.subject in QUEUES)]
    (path,) = s.other
    points = [s.sets(f.shrunk.candidate) | {path: n} for n in others]
    (want,) = [x.text for x in s.objective.selectors]
    with warnings.catch_warnings():
        # A control that offers ECN on a path without marks, for one.
        warnings.simplefilter("ignore", ScenarioWarning)
        run = network(s).prepare().run(points, list(s.fresh[:RANKED]), want=want)
    share = s.capacity.of(f.shrunk.candidate) if s.objective.share else 1.0
    means = {n: sum(v) / len(v) / share for i, n in enumerate(others) if (v := list(run.values(want, point=i)))}
    order = sorted(others, key=lambda n: means[n] if s.objective.most else -means[n])
    best = [n for n in order if n != s.subject][:BETTER]
    return [[n, value_text(s, means[n])] for n in best], [order.index(s.subject) + 1, len(order)]


def main(words: Sequence[str]) -> None:
    """Entry point of the command."""
    from . import corpus_pages

    if not words:
        raise SystemExit("usage: python -m fairlane.worst.corpus FOLDER [NAME...]")
    known = names()
    for name in words[1:]:
        if name not in known:
            raise SystemExit(f"error: {suggest(name, known, 'algorithm')}")
    folder = Path(words[0])
    folder.mkdir(parents=True, exist_ok=True)
    kept = Path("results") / folder.name
    kept.mkdir(parents=True, exist_ok=True)
    found = {}
    for name in words[1:] or known:
        found[name] = entries(name, kept)
        corpus_pages.write(name, found[name], folder)
    if not words[1:]:
        save_bytes(folder.with_name(f"{folder.name}.md"), corpus_pages.overview(found, folder.name).encode())


if __name__ == "__main__":
    main(sys.argv[1:])
