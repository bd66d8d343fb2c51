"""Writes the results of the recorded parameter settings into findings.md and the pages of the papers: `python docs/papers/verdicts.py`.

findings.md gets the answers, the verdicts, the deviations and the directed searches; the page of a paper its claims with both results, its
published values that no recorded setting meets, and its settings run in full.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from fairlane import papers
from fairlane.papers import Compared, Paper
from fairlane.papers.answer import answer, mains, tally
from fairlane.papers.attainable import recorded_with_whole
from fairlane.papers.claims import Judged, read_claims
from fairlane.papers.emulator import recorded_emulated
from fairlane.papers.found import Found
from fairlane.papers.full_reruns import CHANCE, DECLARED, Whole, called, recorded_whole
from fairlane.papers.joint_sample import of_record, of_runs, of_settings
from fairlane.papers.layout import number_of
from fairlane.papers.own_setup import recorded_own
from fairlane.papers.page import percent
from fairlane.papers.records import recorded, recorded_reach
from fairlane.papers.score import score, without_constant
from fairlane.papers.search_record import recorded_search
from fairlane.papers.settings import SAMPLED
from fairlane.papers.verdicts import WORDS, closest_text, elsewhere_text, here_text, label


def entries(key: str) -> list[dict[str, Any]]:
    """Returns the claims of a paper with both results, as in the JSON document, from the records of its folder."""
    paper = papers.load(key)
    own, joint = recorded_own(paper), of_record(paper)
    claims = [
        own[c.id].judged(c) if c.id in own else Judged(c, "inconclusive", "no-data") for c in read_claims(paper.folder / "claims.toml")
    ]
    return [(of_settings(j, joint) if joint else of_runs(j, bool(paper.opens()))).to_json() for j in claims]


@cache
def every() -> dict[str, list[dict[str, Any]]]:
    """Returns the claims of all papers."""
    return {key: entries(key) for key in papers.keys()}  # noqa: SIM118


@cache
def verdicts(key: str) -> dict[str, list[str]]:
    """Returns the claims of a paper by verdict."""
    out: dict[str, list[str]] = {w: [] for w in WORDS}
    for c in every()[key]:
        out[c["verdict"]].append(c["id"])
    return out


def summary() -> str:
    """Returns the first sentences of findings.md: the claims of all papers by verdict, and the main conclusions of each."""
    claims = [c for of in every().values() for c in of]
    lines = [tally(claims, several=True), ""]
    lines += [f"* **[{key}]({key}.md)**: {mains([c for c in of if c['main']])}" for key, of in every().items()]
    return "\n".join(lines)


def part() -> str:
    """Returns the part of findings.md between its marks: a table, and the result of the claims on the published values."""
    names = [w.name for w in WORDS.values()]
    lines = [f"| paper | settings | {' | '.join(names)} |", "|---" * (len(WORDS) + 2) + "|"]
    published = Counter[str]()
    for key, claims in every().items():
        found = verdicts(key)
        settings = sum(r.kind in SAMPLED for r in recorded(papers.load(key)))
        lines.append(f"| [{key}]({key}.md) | {settings} | {' | '.join(', '.join(found[w]) for w in WORDS)} |")
        published.update(c["published"] for c in claims)
    return "\n".join(lines) + (
        f"\n\nThe published values themselves support {published['holds']} of these {published.total()} conclusions and contradict "
        f"{published['fails']}; for {published['no-data']} no value is published that could decide."
    )


def claims_of(key: str) -> str:
    """Returns both results of each claim, for the page of a paper."""
    lines = ["| claim | verdict | in the paper's setup | in other plausible setups | statement |", "|---" * 5 + "|"]
    for c in every()[key]:
        lines.append(f"| {c['id']} | {label(c)} | {here_text(c)} | {elsewhere_text(c)} | {c['statement'].replace('|', '&#124;')} |")
    return "\n".join(lines)


def searched() -> str:
    """Returns the claims that hold hardly ever, with the result of the directed search for each, for findings.md."""
    lines = []
    for key, claims in every().items():
        for c in claims:
            if c["closest"] and c["verdict"] in ("contradicted", "only_in_paper_setup", "inconsistent_in_print", "inconclusive"):
                lines.append(f"* {key} {c['id']}: {c['statement'].rstrip('.')}. {closest_text(c)}")
    return "\n".join(lines) or "No claim needed a directed search."


def agreement() -> str:
    """Returns the deviations from the published values by table, for findings.md."""
    lines = [
        "| paper | published in | values | within 15 % | median deviation | without the constant part |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for key in papers.keys():  # noqa: SIM118
        paper = papers.load(key)
        of: dict[str, list[Compared]] = {}
        for r in recorded_reach(paper):
            if r["ours"]:
                of.setdefault(r["table"], []).append(compared(r))
        if len(of) > 1:
            of = {**of, "": [x for rows in of.values() for x in rows]}
        for table, rows in of.items():
            found, rest = score(rows), without_constant(paper, table, rows)
            cells = [number_of(paper, table) or table or "**all**", found.compared, found.near, percent(found.median), percent(rest)]
            lines.append(f"| [{key}]({key}.md) | {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def compared(r: Mapping[str, str]) -> Compared:
    """Returns a row of `attainable.csv` as a published value with ours."""
    factors = tuple(f.partition(" ")[::2] for f in r["of"].split(", ") if f)
    return Compared(factors, r["metric"], r["unit"], float(r["published"]), float(r["ours"]), published_text=r["published"])


def unreached(key: str) -> str:
    """Returns the published values that no recorded setting reproduces, for the page of a paper; empty without a record."""
    paper = papers.load(key)
    medians = [w.distance.median for w in recorded(paper)]
    rows, w = recorded_reach(paper), recorded_whole(paper)
    held = [x for x in (recorded_with_whole(rows, w.over_settings()) if w else rows) if x["reached"]]
    if not held:
        return ""
    alone = sum(x["settings"] == "0" for x in rows) if w else 0
    lost = [x for x in held if x["reached"] == "no"]
    plain = [x for x in lost if not x["contradiction"]]
    few = {(x["table"], x["of"], x["metric"]) for x in rows if x["settings"] == "0"}  # only settings run whole have these
    outside = [x for x in plain if (x["table"], x["of"], x["metric"]) not in few or not _between(x)]
    least = 100 * min(x for x in medians if x is not None)
    where = f"in at least one of {len(medians)} recorded settings, or in the declared one"
    text = f"Of {len(held)} published values {len(held) - len(lost)}" if lost else f"All {len(held)} published values"
    text += f" are within 15 % {where}" + (f" ({alone} of them in one of those run in full)" if alone else "")
    text += f". The smallest median deviation of a setting, with one replication, is {least:.1f} %."
    if plain:
        text += f" No recorded setting meets {len(plain)} value{'s' if len(plain) > 1 else ''}"
        text += f" (without {len(lost) - len(plain)} that contradict others of the paper)" if len(lost) > len(plain) else ""
        between = len(plain) - len(outside)
        text += f"; {between} of them lie{'s' if between == 1 else ''} between the values of settings" if between else ""
        text += ":" if outside and not between else "; the others:" if outside else "."
    lines = [text]
    if outside:
        found = {(f.table, f.of, f.metric): f for f in recorded_search(paper) if f.table}
        heads = "| published in | value | published | minimum over settings | maximum | directed search |"
        lines += ["", heads, "|---|---|---:|---:|---:|---|"]
        lines += [_line(paper, x, found.get((x["table"], x["of"], x["metric"]))) for x in outside]
    return "\n".join(lines)


def _between(x: Mapping[str, str]) -> bool:
    return float(x["low"]) <= float(x["published"]) <= float(x["high"])


def _line(paper: Paper, x: Mapping[str, str], found: Found | None) -> str:
    unit = {"percent": " %", "1": ""}.get(x["unit"], f" {x['unit']}")
    of = f"{x['of']}: {x['metric'].replace('_', ' ')}"
    ends = [f"{float(x[k]):.4g}{unit}" for k in ("low", "high")]
    best = ""
    if found:
        best = f"{found.nearness}: {percent(-found.margin)} away ({found.evaluated} settings), with {found.setting}"
    return f"| {number_of(paper, x['table']) or x['table']} | {of} | {x['published']}{unit} | {ends[0]} | {ends[1]} | {best} |"


ASKED = 0.07
"""Target for the median deviation of yang2001: more than half of its values within it."""


def reachable(w: Whole) -> dict[str, int]:
    """Counts the values within `ASKED` of the published ones in the settings run in full.

    `needed` for a median below it; `most` in the best setting; `mixed` if each queue of each table could have its own setting;
    `means` in all tables but the last in the best setting; `chance` in the last if the paper were a run of the declared setting.
    """
    settings = [n for n in w.ours if n != CHANCE]
    last = w.places[-1][0]
    groups = {(table, _queue(of)) for table, of, _ in w.places}

    def most(wanted: Callable[[tuple[str, str, str]], bool]) -> int:
        return max(w.within(n, ASKED, wanted) for n in settings)

    return {
        "all": len(w.places), "needed": len(w.places) // 2 + 1, "most": most(lambda _: True), "last": sum(p[0] == last for p in w.places),
        "mixed": sum(most(lambda p, g=g: (p[0], _queue(p[1])) == g) for g in groups),  # type: ignore[misc]
        "means": most(lambda p: p[0] != last),
        "chance": sum(x < ASKED for x, p in zip(w.chance(), w.places, strict=True) if p[0] == last),
        "alone": sum(x < ASKED for x in w.chance()),
    }  # fmt: skip


def _queue(of: str) -> str:
    return next((x.removeprefix("queue ") for x in of.split(", ") if x.startswith("queue ")), "")


def whole(key: str) -> str:
    """Returns the settings run in full and the best possible agreement, for the page of a paper; empty without a record."""
    paper = papers.load(key)
    w = recorded_whole(paper)
    if w is None:
        return ""
    tables = list(dict.fromkeys(table for table, _, _ in w.places))
    names = [number_of(paper, t) for t in tables]
    lines = [
        f"| change to the declared setting | all | {' | '.join(names)} | within {100 * ASKED:.0f} % |",
        "|---" + "|---:" * (len(tables) + 2) + "|",
    ]
    sample = {called(paper, x.values) for x in w.seen if x.kind in SAMPLED}
    for n in sorted((n for n in w.ours if n != CHANCE and n not in sample), key=w.median):
        medians = " | ".join(f"{100 * w.median(n, t):.1f} %" for t in ("", *tables))
        lines.append(f"| {'none' if n == DECLARED else n.replace('=', ' ')} | {medians} | {w.within(n, ASKED)} |")
    if sample:
        each, counts = sorted(w.median(n) for n in sample), [w.within(n, ASKED) for n in sample]
        ends, half = f"{100 * each[0]:.1f} to {100 * each[-1]:.1f} %", f"{100 * each[len(each) // 2]:.1f} %"
        lines += [
            "",
            f"In the first {len(sample)} settings of the sample, drawn independently of the published values, the median deviation is "
            f"{ends}, and in half of them {half} or more; {min(counts)} to {max(counts)} values are within {100 * ASKED:.0f} %.",
        ]
    r = reachable(w)
    lines += [
        "",
        f"A median deviation below {100 * ASKED:.0f} % needs {r['needed']} of the {r['all']} values within it. The best of these settings "
        f"has {r['most']}. If each queue could have its best setting in each table, there would be {r['mixed']}"
        f"{', which is just enough, and which no setting has' if r['mixed'] >= r['needed'] else ''}. Two runs of the declared "
        f"setting with different seeds agree in {r['alone']} values, of {names[-1]} in {r['chance']} of {r['last']}. With this many of "
        f"{names[-1]}, the other tables would need {r['needed'] - r['chance']}, and have at most {r['means']}.",
    ]
    e = recorded_emulated(paper)
    return "\n".join([*lines, *(["", e.sentences(f"`python -m fairlane.papers.emulator {key}`")] if e else [])])


def between(text: str, name: str, made: str) -> str:
    """Returns the page with a new part between the marks of this name; the page as it is if it has none."""
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, mark, rest = text.partition(begin)
    return f"{before}{mark}{made}\n{end}{rest.partition(end)[2]}" if mark else text


def findings(text: str) -> str:
    """Returns the up-to-date findings.md."""
    for name, made in (("summary", summary), ("verdicts", part), ("agreement", agreement), ("searched", searched)):
        text = between(text, name, made())
    return text


def written(key: str, text: str) -> str:
    """Returns the up-to-date page of a paper."""
    paper = papers.load(key)
    text = between(text, "answer", answer(every()[key]))
    text = between(text, "claims", claims_of(key))
    text = between(text, "unreached", unreached(key)) if recorded_reach(paper) else text
    return between(text, "whole", whole(key)) if recorded_whole(paper) else text


if __name__ == "__main__":
    page = Path(__file__).with_name("findings.md")
    page.write_text(findings(page.read_text("utf-8")), "utf-8")
    for key in papers.keys():  # noqa: SIM118
        page = Path(__file__).with_name(f"{key}.md")
        page.write_text(written(key, page.read_text("utf-8")), "utf-8")
