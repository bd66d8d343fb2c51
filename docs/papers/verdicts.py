"""Writes the verdicts into findings.md, from the worlds that are recorded in the studies' folders: `python docs/papers/verdicts.py`.

A study without a record has no verdicts: all of its claims are undecided, as they are after a run without worlds.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from fairlane import papers
from fairlane.papers.claims import read_claims
from fairlane.papers.joint import Joint, recorded
from fairlane.papers.printed import Distance
from fairlane.papers.worlds import Seen
from fairlane.worlds.verdicts import WORDS


def verdicts(key: str) -> dict[str, list[str]]:
    """The claims of a study by verdict."""
    paper = papers.load(key)
    claims = read_claims(paper.folder / "claims.toml")
    out: dict[str, list[str]] = {w: [] for w in WORDS}
    rows = recorded(paper)
    if not rows:
        return {**out, "undecided": [c.id for c in claims]}
    seen = [
        Seen(r.values, r.kind, r.outcomes, {}, Distance(r.distance["fit"], r.distance["test"], r.distance["median"], 0, 0)) for r in rows
    ]
    joint = Joint(paper.opens(), claims, seen, paper.declared_world, sum(r.kind != "near" for r in rows))
    for c in claims:
        out[joint.judged(c, "no-data").word].append(c.id)
    return out


def part() -> str:
    """What findings.md has between its marks: a table, and what the printed numbers say of the claims."""
    lines = [f"| study | worlds | {' | '.join(WORDS)} |", "|---" * (len(WORDS) + 2) + "|"]
    printed = Counter[str]()
    for key in papers.keys():  # noqa: SIM118
        found = verdicts(key)
        worlds = sum(r.kind != "near" for r in recorded(papers.load(key)))
        lines.append(f"| [{key}]({key}.md) | {worlds} | {' | '.join(', '.join(found[w]) for w in WORDS)} |")
        printed.update(c.published for c in read_claims(papers.shipped() / key / "claims.toml"))
    return "\n".join(lines) + (
        f"\n\nThe printed numbers themselves bear out {printed['holds']} of these {printed.total()} claims and contradict "
        f"{printed['fails']}; for {printed['no-data']} nothing is printed that could decide."
    )


MARKS = ("<!-- verdicts -->\n", "<!-- /verdicts -->")


def put(text: str) -> str:
    """The page with that part made anew."""
    before, rest = text.split(MARKS[0])
    return before + MARKS[0] + part() + "\n" + MARKS[1] + rest.split(MARKS[1])[1]


if __name__ == "__main__":
    page = Path(__file__).with_name("findings.md")
    page.write_text(put(page.read_text("utf-8")), "utf-8")
