"""What the RFCs of TCP ask of a sender and a receiver, and the test that shows it is here: `python -m validation.rfc` writes the page.

`tables/NUMBER.toml` has the requirements of one RFC: section (with the number of RFC 9293's appendix B), requirement in our words, level,
`yes`, `preset` or `no`, and what shows it: tests, then a remark; for `no` the reason. Tests are named `file::function` in `crates/tcp/tests`,
`src/file::function` in `crates/tcp/src`, `py/file::function` in `tests`, and `pkt/name` for a packet script.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLES = Path(__file__).parent / "tables"
PAGE = ROOT / "docs" / "validation" / "rfc.md"
LEVELS = ("MUST", "MUST NOT", "SHOULD", "SHOULD NOT")
ANSWERS = ("yes", "preset", "no")
#: Those whose sender or receiver is simulated, in the order of the page.
RFCS = (9293, 5961, 7323, 5681, 6298, 6582, 6675, 2883, 3042, 6928, 5682, 8985, 9937, 9406, 9438, 7661, 3168, 9768)


@dataclass(frozen=True)
class Row:
    """One requirement."""

    section: str
    requirement: str
    level: str
    answer: str
    proof: str

    @property
    def tests(self) -> list[str]:
        """The tests that are named."""
        return [] if self.answer == "no" else [w for w in self.proof.split() if "::" in w or w.startswith("pkt/")]

    @property
    def remark(self) -> str:
        """What is said besides; the reason for a `no`."""
        return self.proof if self.answer == "no" else " ".join(w for w in self.proof.split() if w not in self.tests)


def table(number: int) -> tuple[str, list[Row]]:
    """Title and rows of one RFC."""
    data = tomllib.loads((TABLES / f"{number}.toml").read_text(encoding="utf-8"))
    return data["title"], [Row(*(str(x).strip() for x in row)) for row in data["rows"]]


def place(test: str) -> Path:
    """The file that a test is in."""
    name = test.split("::")[0]
    kind, _, rest = name.partition("/")
    if kind == "pkt":
        return ROOT / "python" / "fairlane" / "scripts" / f"{rest}.pkt"
    if kind == "py":
        return ROOT / "tests" / f"{rest}.py"
    return ROOT / "crates" / "tcp" / (name if kind == "src" else f"tests/{name}")


def file(test: str) -> Path:
    """The same with its ending."""
    path = place(test)
    return path if path.suffix else path.with_suffix(".rs")


def exists(test: str) -> bool:
    """Whether there is such a test."""
    path = file(test)
    if not path.is_file():
        return False
    if "::" not in test:
        return True
    function = re.escape(test.split("::")[1])
    text = path.read_text(encoding="utf-8")
    return (
        re.search(rf"^def {function}\(" if path.suffix == ".py" else rf"#\[test\]\s+(#\[[^\n]*\]\s+)*fn {function}\(", text, re.M)
        is not None
    )


def _cell(row: Row) -> str:
    tests = [f"[{t.split('::')[-1].removeprefix('pkt/')}](../../{file(t).relative_to(ROOT)})" for t in row.tests]
    return ", ".join(tests) + (("; " if tests else "") + row.remark if row.remark else "")


def page() -> str:
    """The page."""
    out = ["<!-- Written by `python -m validation.rfc` from validation/rfc/tables: change these. -->", "# What the RFCs ask for", ""]
    out += [
        "What the RFCs of TCP ask of a sender and a receiver (MUST, SHOULD and their negations): whether it is here by default (`yes`),",
        "with a preset or a parameter (`preset`), or not (`no`, with the reason), and the test that shows it.",
        "",
        "| RFC | | yes | preset | no |",
        "|---|---|---|---|---|",
    ]
    tables = {n: table(n) for n in RFCS}
    for n, (title, rows) in tables.items():
        counts = " | ".join(str(sum(r.answer == a for r in rows)) for a in ANSWERS)
        out.append(f"| [{n}](#rfc-{n}) | {title} | {counts} |")
    for n, (title, rows) in tables.items():
        out += ["", f"## RFC {n}", "", f"[{title}](https://www.rfc-editor.org/rfc/rfc{n}).", ""]
        out += ["| section | requirement | level | here | shown by |", "|---|---|---|---|---|"]
        out += [f"| {r.section} | {r.requirement} | {r.level} | {r.answer} | {_cell(r)} |" for r in rows]
    return "\n".join(out) + "\n"
