"""A corpus of worst paths, one page for each algorithm: `python -m fairlane.worst.corpus FOLDER [NAME...]`.

Each congestion control is compared with CUBIC, CUBIC with BBRv3, and each queue with DropTail. `FOLDER.md` is the overview,
`FOLDER/NAME.md` the page of an algorithm. The evaluations are kept below `results`, so the command resumes, and a name more costs one
search.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..base.files import save_bytes
from ..base.format import quantity
from ..base.reference import built_in
from ..errors import suggest
from . import WorstPaths, WorstResult

BUDGET = 256
"""Paths of each search."""
QUEUES = ("droptail", "red", "codel", "pie", "pi2", "dualpi2", "fq_codel", "fq_pie", "cake", "sfq")
NOT = ("external",)
"""Congestion controls that do nothing by themselves."""
REFERENCE = {"cubic": "bbr3", "droptail": "fq_codel"}
"""References of these; other controls are compared with CUBIC, other queues with DropTail."""


def names() -> list[str]:
    """Returns every congestion control, and ten queues."""
    return [*(e["name"] for e in built_in() if e["kind"] == "cc" and e["name"] not in NOT), *QUEUES]


def search(name: str) -> WorstPaths:
    """Returns the search of an algorithm."""
    if name in QUEUES:
        return WorstPaths(queue=name, reference=REFERENCE.get(name, "droptail"))
    return WorstPaths(tcp=name, reference=REFERENCE.get(name, "cubic"))


def write(folder: Path, chosen: Iterable[str], budget: int = BUDGET) -> None:
    """Writes a page for each algorithm, and an overview of all."""
    found = {}
    for name in chosen:
        found[name] = search(name).run(Path("results") / folder.name / name, budget=budget)
        save_bytes(folder / f"{name}.md", page(name, found[name]).encode())
        save_bytes(folder.with_name(f"{folder.name}.md"), overview(found, folder.name).encode())


def overview(found: dict[str, WorstResult], folder: str) -> str:
    """Returns the table of all algorithms."""
    lines = ["# Worst paths", "", "<!-- Made by `python -m fairlane.worst.corpus`. -->", ""]
    lines += ["| algorithm | compared with | worst path | difference |", "|---|---|---|---|"]
    for name, r in found.items():
        worst = r.findings[0] if r.found else None
        cells = ("nothing found", "-") if worst is None else (_sentence(worst.sentence), quantity(worst.effect, r.spec.objective.unit))
        lines.append(f"| [{name}]({folder}/{name}.md) | {r.spec.reference} | {cells[0]} | {cells[1]} |")
    return "\n".join(lines) + "\n"


def page(name: str, r: WorstResult) -> str:
    """Returns the page of an algorithm: its worst paths, what it loses, and what limits it there."""
    s = r.spec
    out = [f"# Worst paths of {name}", "", "<!-- Made by `python -m fairlane.worst.corpus`. -->", ""]
    out += [f"{r.evaluations} paths with {len(s.seeds)} seeds each, {s.objective.goal}, compared with {s.reference}.", ""]
    if not r.found:
        return "\n".join([*out, _sentence(r.summary)]) + "\n"
    for f in r.findings:
        out += [f"## Path {f.number}", "", _sentence(f.sentence), ""]
        out += [f"| {s.objective.word} | {s.subject} | {s.reference} | difference |", "|---|---|---|---|"]
        out += [f"| {len(s.fresh)} fresh seeds | {' | '.join(quantity(x, s.objective.unit) for x in (f.own, f.other, f.effect))} |", ""]
        out += [f"- {who}: {line}" for who, lines in f.limits for line in lines]
        out += ["", "```toml", f.scenario.strip(), "```", ""]
    return "\n".join(out).rstrip() + "\n"


def _sentence(text: str) -> str:
    return text.replace("|", "\\|")


def main(words: Sequence[str]) -> None:
    """Entry point of the command."""
    if not words:
        raise SystemExit("usage: python -m fairlane.worst.corpus FOLDER [NAME...]")
    known = names()
    chosen = list(words[1:]) or known
    for name in chosen:
        if name not in known:
            raise SystemExit(f"error: {suggest(name, known, 'algorithm')}")
    folder = Path(words[0])
    folder.mkdir(parents=True, exist_ok=True)
    write(folder, chosen)


if __name__ == "__main__":
    main(sys.argv[1:])
