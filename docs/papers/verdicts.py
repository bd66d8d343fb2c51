"""Writes the results of the recorded parameter settings into findings.md and the pages of the papers: `python docs/papers/verdicts.py`.

findings.md gets the verdicts, the page of a paper its published values that no setting reproduces, and its settings run in full.

A paper without a record has no verdicts: all of its claims are inconclusive, as after a run without settings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from fairlane import papers
from fairlane.multiverse.verdicts import WORDS
from fairlane.papers import Paper
from fairlane.papers.attainable import recorded_with_whole
from fairlane.papers.claims import read_claims
from fairlane.papers.emulator import recorded_emulated
from fairlane.papers.full_reruns import CHANCE, DECLARED, Whole, called, recorded_whole
from fairlane.papers.joint_sample import of_record
from fairlane.papers.layout import number_of
from fairlane.papers.records import recorded, recorded_reach
from fairlane.papers.settings import SAMPLED


def verdicts(key: str) -> dict[str, list[str]]:
    """Returns the claims of a paper by verdict."""
    paper = papers.load(key)
    claims = read_claims(paper.folder / "claims.toml")
    out: dict[str, list[str]] = {w: [] for w in WORDS}
    joint = of_record(paper)
    if joint is None:
        return {**out, WORDS[-1]: [c.id for c in claims]}
    for c in claims:
        out[joint.judged(c, "no-data").word].append(c.id)
    return out


def summary() -> str:
    """Returns the first sentence of findings.md: the number of claims by verdict."""
    counts = Counter[str]()
    for key in papers.keys():  # noqa: SIM118
        counts.update({w: len(ids) for w, ids in verdicts(key).items()})
    holds, depends, fails, unreached, open_ = (counts[w] for w in WORDS)
    return (
        f"Of the {counts.total()} claims of five published studies, {holds} hold in nearly all plausible parameter settings, {depends} "
        f"depend on parameters that the papers do not state, {fails} fail, {unreached} were not reproduced, and {open_} are inconclusive."
    )


def part() -> str:
    """Returns the part of findings.md between its marks: a table, and the result of the claims on the published values."""
    lines = [f"| paper | settings | {' | '.join(WORDS)} |", "|---" * (len(WORDS) + 2) + "|"]
    published = Counter[str]()
    for key in papers.keys():  # noqa: SIM118
        found = verdicts(key)
        settings = sum(r.kind in SAMPLED for r in recorded(papers.load(key)))
        lines.append(f"| [{key}]({key}.md) | {settings} | {' | '.join(', '.join(found[w]) for w in WORDS)} |")
        published.update(c.published for c in read_claims(papers.shipped() / key / "claims.toml"))
    return "\n".join(lines) + (
        f"\n\nThe published values themselves support {published['holds']} of these {published.total()} claims and contradict "
        f"{published['fails']}; for {published['no-data']} no value is published that could decide."
    )


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
    told = f"Of {len(held)} published values {len(held) - len(lost)}" if lost else f"All {len(held)} published values"
    told += f" are within 15 % {where}" + (f" ({alone} of them in one of those run in full)" if alone else "")
    told += f". The smallest median deviation of a setting, with one replication, is {least:.1f} %."
    if plain:
        told += f" No setting reproduces {len(plain)} value{'s' if len(plain) > 1 else ''}"
        told += f" (without {len(lost) - len(plain)} that contradict others of the paper)" if len(lost) > len(plain) else ""
        between = len(plain) - len(outside)
        told += f"; {between} of them lie between the values of settings" if between else ""
        told += ":" if outside and not between else "; the others:" if outside else "."
    lines = [told]
    if outside:
        lines += ["", "| published in | value | published | minimum over settings | maximum |", "|---|---|---:|---:|---:|"]
        lines += [_line(paper, x) for x in outside]
    return "\n".join(lines)


def _between(x: Mapping[str, str]) -> bool:
    return float(x["low"]) <= float(x["published"]) <= float(x["high"])


def _line(paper: Paper, x: Mapping[str, str]) -> str:
    unit = {"percent": " %", "1": ""}.get(x["unit"], f" {x['unit']}")
    of = f"{x['of']}: {x['metric'].replace('_', ' ')}"
    ends = [f"{float(x[k]):.4g}{unit}" for k in ("low", "high")]
    return f"| {number_of(paper, x['table']) or x['table']} | {of} | {x['published']}{unit} | {ends[0]} | {ends[1]} |"


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
        f"has {r['most']}. If each queue could have its best setting in each table, there would be {r['mixed']}. Two runs of the declared "
        f"setting with different seeds agree in {r['alone']} values, of {names[-1]} in {r['chance']} of {r['last']}. With this many of "
        f"{names[-1]}, the other tables would need {r['needed'] - r['chance']}, and have at most {r['means']}.",
    ]
    e = recorded_emulated(paper)
    return "\n".join([*lines, *(["", e.told(f"`python -m fairlane.papers.emulator {key}`")] if e else [])])


SUMMARY, VERDICTS, UNREACHED, WHOLE = (
    ("<!-- " + x + " -->\n", "<!-- /" + x + " -->") for x in ("summary", "verdicts", "unreached", "whole")
)


def put(text: str, marks: tuple[str, str] = VERDICTS, made: str | None = None) -> str:
    """Returns the page with a new part between these marks; by default the summary and the verdicts of findings.md."""
    if made is None:
        text = put(text, SUMMARY, summary())
    before, rest = text.split(marks[0])
    return before + marks[0] + (part() if made is None else made) + "\n" + marks[1] + rest.split(marks[1])[1]


def written(key: str, text: str) -> str:
    """Returns the up-to-date page of a paper."""
    paper = papers.load(key)
    text = put(text, UNREACHED, unreached(key)) if recorded_reach(paper) else text
    return put(text, WHOLE, whole(key)) if recorded_whole(paper) else text


if __name__ == "__main__":
    page = Path(__file__).with_name("findings.md")
    page.write_text(put(page.read_text("utf-8")), "utf-8")
    for key in papers.keys():  # noqa: SIM118
        page = Path(__file__).with_name(f"{key}.md")
        page.write_text(written(key, page.read_text("utf-8")), "utf-8")
