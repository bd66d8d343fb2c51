"""Requirements of the TCP RFCs for senders and receivers, each with its test: `python -m validation.rfc` writes the page.

`tables/NUMBER.toml` has the requirements of one RFC: section, requirement in our words, level, `yes`, `preset` or `no`, and what shows it:
tests, then a remark; for `no` the reason; `switch` is what a whole RFC needs. A last number says for how many key words of the text the row
stands, if not for one. `words` counts the key words of the text, section by section (`count.py`), and `aside` those that ask nothing of a
sender or receiver, with what they are about, so that nothing is left out unseen. RFC 9293 numbers its requirements itself: there
`identifiers` takes the place of `words`.

Tests are named `file::function` in `crates/tcp/tests`, `src/file::function` in `crates/tcp/src`, `py/file::function` in `tests`, and
`pkt/name` for a packet script. A test says itself which RFC and section it is about (`names`).
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLES = Path(__file__).parent / "tables"
PAGE = ROOT / "docs" / "validation" / "rfc.md"
#: `step`: what an algorithm does where the RFC has no key word.
LEVELS = ("MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "step")
ANSWERS = ("yes", "preset", "no")
#: RFCs whose sender or receiver is simulated, in the order of the page.
RFCS = (9293, 5961, 7323, 5681, 6298, 6582, 6675, 2883, 3042, 6928, 5682, 8985, 9937, 9406, 9438, 7661, 3168, 9768)
#: Numbered requirements of RFC 9293, appendix B.
IDENTIFIERS = {"MUST": 69, "SHLD": 31, "REC": 1}


@dataclass(frozen=True)
class Row:
    """One requirement."""

    section: str
    requirement: str
    level: str
    answer: str
    proof: str
    stands_for: int

    @property
    def place(self) -> str:
        """The section alone."""
        return self.section.split()[0]

    @property
    def identifiers(self) -> list[str]:
        """Identifiers in RFC 9293."""
        return re.findall(r"(?:MUST|SHLD|REC)-\d+", self.section)

    @property
    def tests(self) -> list[str]:
        """The tests that are named."""
        return [] if self.answer == "no" else [w for w in self.proof.split() if "::" in w or w.startswith("pkt/")]

    @property
    def remark(self) -> str:
        """The remark; for a `no` the reason."""
        return self.proof if self.answer == "no" else " ".join(w for w in self.proof.split() if w not in self.tests)


@dataclass(frozen=True)
class Aside:
    """Key words that ask nothing of a sender or receiver."""

    section: str
    count: int
    about: str


@dataclass(frozen=True)
class Table:
    """Requirements of one RFC."""

    title: str
    rows: list[Row]
    aside: list[Aside]
    words: dict[str, int]
    identifiers: bool
    switch: str
    note: str

    def number(self, answer: str) -> int:
        """Rows with this answer."""
        return sum(r.answer == answer for r in self.rows)


def _row(section: str, requirement: str, level: str, answer: str, proof: str, stands_for: int | None = None) -> Row:
    default = 0 if level == "step" else 1
    return Row(section, requirement, level, answer, proof.strip(), default if stands_for is None else stands_for)


@cache
def table(number: int) -> Table:
    """The table of one RFC."""
    data = tomllib.loads((TABLES / f"{number}.toml").read_text(encoding="utf-8"))
    rows = [_row(*row) for row in data["rows"]]
    aside = [Aside(*entry) for entry in data.get("aside", [])]
    switch, note = data.get("switch", ""), data.get("note", "")
    return Table(data["title"], rows, aside, data.get("words", {}), data.get("identifiers", False), switch, note)


def unaccounted(number: int) -> list[str]:
    """Sections whose key words are not as many as rows and `aside` account for; for RFC 9293 numbers that are missing or there twice."""
    t = table(number)
    if t.identifiers:
        identifiers = [i for r in t.rows for i in r.identifiers]
        due = [f"{kind}-{n}" for kind, most in IDENTIFIERS.items() for n in range(1, most + 1)]
        return [i for i in sorted({*identifiers, *due}) if identifiers.count(i) != due.count(i)]
    sections = {*t.words, *(r.place for r in t.rows if r.stands_for), *(a.section for a in t.aside)}
    counts = {s: sum(r.stands_for for r in t.rows if r.place == s) + sum(a.count for a in t.aside if a.section == s) for s in sections}
    return [f"{s}: {counts[s]} of {t.words.get(s, 0)}" for s in sorted(sections) if counts[s] != t.words.get(s, 0)]


def file(test: str) -> Path:
    """The file that a test is in."""
    name = test.split("::")[0]
    kind, _, rest = name.partition("/")
    if kind == "pkt":
        return ROOT / "python" / "fairlane" / "scripts" / f"{rest}.pkt"
    if kind == "py":
        return ROOT / "tests" / f"{rest}.py"
    return ROOT / "crates" / "tcp" / (f"{name}.rs" if kind == "src" else f"tests/{name}.rs")


@cache
def text(test: str) -> str:
    """Returns the source of a test with its comment; empty if there is none."""
    path = file(test)
    if not path.is_file():
        return ""
    whole = path.read_text(encoding="utf-8")
    if "::" not in test:
        return whole
    function = re.escape(test.split("::")[1])
    if path.suffix == ".py":
        found = re.search(rf"^def {function}\(.*?(?=^\S|\Z)(?:^\) -> None:\n.*?(?=^\S|\Z))?", whole, re.M | re.S)
    else:
        found = re.search(rf"(?:^ *///[^\n]*\n)*^( *)#\[test\]\n(?: *#\[[^\n]*\]\n)*\1fn {function}\(.*?^\1\}}", whole, re.M | re.S)
    return found[0] if found else ""


_SECTION = r"\d+(?:\.\d+)*"
_STEP = r"(?: step \d+| \([\w.]+\)|)"
#: An RFC, or sections: "section 3.2 step 1", "sections 2.1 to 2.4 and 5".
_MENTION = re.compile(rf"RFCs? (\d{{4,5}})|[Ss]ections? ({_SECTION}(?:{_STEP}(?:, | and |,? to )(?:sections? )?{_SECTION})*)")


@cache
def annotated(test: str) -> frozenset[tuple[int, str]]:
    """RFCs and sections that a test says it is about: in words above and in it, or in its name; the head of the file may name the RFC."""
    own = text(test)
    head = re.match(r"(?://![^\n]*\n)+|\"\"\".*?\"\"\"", file(test).read_text(encoding="utf-8"), re.S)
    home = [int(n) for n in re.findall(r"RFC (\d+)", head[0])] if head else []
    name = test.split("::")[-1]
    if found := re.match(r"rfc(\d+)_", name):
        home = [int(found[1])]
    out: set[tuple[int, str]] = set()
    for spelt in re.findall(r"(?:^|_)(?:sections?_|rfc\d+_|and_)((?:\d+_)+)", name):
        out |= {(n, spelt.strip("_").replace("_", ".")) for n in home}
    current = home
    for number, sections in _MENTION.findall(re.sub(r"\s*\n\s*(?:///|//|#)?\s*", " ", own)):
        if number:
            current = [int(number)]
            continue
        listed = re.findall(rf"(?<![\w.(]){_SECTION}", re.sub(r"step \d+", "", sections))
        for first, last in re.findall(rf"({_SECTION}) to ({_SECTION})", sections):
            stem, _, low = first.rpartition(".")
            listed += [f"{stem}.{k}".strip(".") for k in range(int(low), int(last.rpartition(".")[2]) + 1)]
        out |= {(n, section) for n in current for section in listed}
    return frozenset(out)


def names(test: str, number: int, section: str) -> bool:
    """True if a test cites this section, or a part of it."""
    return any(n == number and (s == section or s.startswith(section + ".")) for n, s in annotated(test))


def _cell(row: Row) -> str:
    tests = [f"[{t.split('::')[-1].removeprefix('pkt/')}](../../{file(t).relative_to(ROOT)})" for t in row.tests]
    return ", ".join(tests) + (("; " if tests else "") + row.remark if row.remark else "")


def _accounts(number: int) -> str:
    """Returns a sentence or two on the key words of one RFC."""
    t = table(number)
    if t.identifiers:
        ranges = [f"{kind}-1 to {most}" if most > 1 else f"{kind}-1" for kind, most in IDENTIFIERS.items()]
        return f"{t.note} All of them are below: {', '.join(ranges)}."
    total, aside = sum(t.words.values()), sum(a.count for a in t.aside)
    out = f"All of it needs `{t.switch}`. " if t.switch else ""
    out += f"Its text has {total} key word{'s' * (total != 1)}, {total - aside} of them below."
    out += f" {t.note}" if t.note else ""
    if t.aside:
        by_subject: dict[str, list[Aside]] = {}
        for a in t.aside:
            by_subject.setdefault(a.about, []).append(a)
        where = [
            f"{sum(a.count for a in group)} in section{'s' * (len(group) > 1)} {', '.join(a.section for a in group)} ({about})"
            for about, group in by_subject.items()
        ]
        out += f" Not for a sender or receiver: {'; '.join(where)}."
    return out.replace("section 0 (abstract: ", "the abstract (")


def page() -> str:
    """The page."""
    out = ["<!-- Written by `python -m validation.rfc` from validation/rfc/tables: change these. -->", "# RFC conformance", ""]
    tables = {n: table(n) for n in RFCS}
    yes, preset, no = (sum(t.number(answer) for t in tables.values()) for answer in ANSWERS)
    out += [
        f"TCP is checked against {len(RFCS)} RFCs. Of {yes + preset + no} requirements on a sender or receiver "
        f"the preset `rfc` meets {yes}.",
        f"Another preset or a parameter meets {preset}, and {no} are not met, each with the reason.",
        "",
        "The column *here* says `yes` (preset `rfc`), `preset` (another preset or a parameter) or `no`; the last column names the test, or",
        "the reason. MUST includes REQUIRED and SHALL, SHOULD includes RECOMMENDED. A *step* is a step of an algorithm without a key word",
        "in the RFC.",
        "",
        "Each table accounts for all key words of its RFC (`python -m validation.rfc.count rfc5681.txt` counts those of a text). A row",
        "stands for one or for several that go together. Key words that concern neither sender nor receiver are listed above the table.",
        "",
        "| RFC | | key words | not for a sender or receiver | rows | yes | preset | no |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for n, t in tables.items():
        total = sum(IDENTIFIERS.values()) if t.identifiers else sum(t.words.values())
        counts = " | ".join(str(c) for c in (total, sum(a.count for a in t.aside), len(t.rows), *map(t.number, ANSWERS)))
        out.append(f"| [{n}](#rfc-{n}) | {t.title} | {counts} |")
    for n, t in tables.items():
        out += ["", f"## RFC {n}", "", f"[{t.title}](https://www.rfc-editor.org/rfc/rfc{n}).", _accounts(n), ""]
        out += ["| section | requirement | level | here | shown by |", "|---|---|---|---|---|"]
        out += [f"| {r.section} | {r.requirement} | {r.level} | {r.answer} | {_cell(r)} |" for r in t.rows]
    return "\n".join(out) + "\n"
