"""Published tables on a page: each published value once, in the row and column that the published table has it; what a score counts."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from fairlane import papers
from fairlane.errors import PaperError
from fairlane.look import curves
from fairlane.papers import Built, Compared, Comparison
from fairlane.papers.layout import Grid, Layout, grids, heading, is_tidy, layout_of, number_of, published_rows, wrong_layout
from fairlane.papers.numbers import mean
from fairlane.papers.outcome import results_of
from fairlane.papers.score import score, scores
from fairlane.papers.tables import read_csv
from fairlane.papers.verdicts import WORDS, badge, counts, percent

KEYS = papers.keys()
TABLES = [(key, path.stem) for key in KEYS for path in sorted((papers.shipped() / key).glob("table*.csv")) if is_tidy(read_csv(path))]


def laid(key: str, table: str) -> tuple[list[Compared], Layout, list[Grid]]:
    paper = papers.load(key)
    rows = published_rows(paper, table, Built())
    layout = layout_of(paper, table, rows)
    return rows, layout, grids(rows, layout, {})


@pytest.mark.parametrize(("key", "table"), TABLES)
def test_each_published_value_stands_once_where_the_published_table_has_it(key, table):
    _, layout, made = laid(key, table)
    shown = []
    for grid in made:
        for labels, line in grid.labels():
            assert len(line.cells) == len(grid.columns())
            for column, c in zip(grid.columns(), line.cells, strict=True):
                if c is not None:
                    at = {**dict(c.factors), "metric": c.metric, "unit": c.unit}
                    assert labels == [at[n].replace("_", " ") for n in layout.rows]
                    assert all(at[n].replace("_", " ") in column for n in layout.columns)
                    assert all(at[n].replace("_", " ") in grid.title for n in layout.tables)
                    shown.append({**at, "value": c.published_text})
    published = read_csv(papers.shipped() / key / f"{table}.csv")
    as_read = [{k: x for k, x in row.items() if k in (*shown[0], "value")} for row in published]
    assert sorted(shown, key=repr) == sorted(as_read, key=repr)


@pytest.mark.parametrize("key", KEYS)
def test_every_published_table_declares_a_layout_that_is_right(key):
    paper = papers.load(key)
    ids = [e.id for e in paper.experiments()]
    for k, table in TABLES:
        if k == key:
            assert table in ids, "a published table that no experiment shows"
            assert "layout" in paper.words["experiments"][table]
            assert wrong_layout(paper, table) is None


def test_headings_carry_the_numbers_of_the_paper():
    paper = papers.load("ramachendra2014")
    assert [number_of(paper, x) for x in ("fig2.1", "fig5.3", "matrix")] == ["Fig. 2.1", "Fig. 5.3", ""]
    paper = papers.load("yang2001")
    found = {e.id: heading(paper, e) for e in paper.experiments()}
    assert (
        found["table4"].startswith("Table 4. ") and found["fig8"].startswith("Fig. 8. ") and found["sec5.6-slots"].startswith("Sec. 5.6. ")
    )
    assert found["ts-mechanism"] == paper.title_of("ts-mechanism")
    paper.words["experiments"]["ts-mechanism"]["number"] = "Sec. 3.2"
    assert number_of(paper, "ts-mechanism") == "Sec. 3.2"


def published(value: float, metric: str = "delay", unit: str = "ms", **factors: object) -> Compared:
    return Compared(tuple((k, str(x)) for k, x in factors.items()), metric, unit, value, published_text=str(value))


def test_a_paper_without_layouts_gets_sensible_ones():
    paper = papers.load("sarma2013")
    paper.words["experiments"]["table2"].pop("layout")
    two = [published(n + k, queue=q, clients=n) for k, q in enumerate(("RED", "DropTail")) for n in (3, 5)]
    assert layout_of(paper, "table2", two) == Layout(("queue",), ("clients",))
    (grid,) = grids(two, Layout(("queue",), ("clients",)), {"clients": "{} clients"})
    assert [h.text for h in grid.heads[0]] == ["3 clients", "5 clients"] and grid.title == "delay, ms"
    metrics = [published(1, m, u, queue=q) for q in ("RED", "DropTail") for m, u in (("delay", "ms"), ("loss", "percent"))]
    assert layout_of(paper, "table2", metrics) == Layout(("queue",), ("metric",))
    (grid,) = grids(metrics, Layout(("queue",), ("metric",)), {})
    assert grid.columns() == ["delay, ms", "loss, %"]
    many = [published(n, n=n, m=k) for n in range(3) for k in range(20)]  # too many for columns
    assert layout_of(paper, "table2", many).columns == ("metric",)
    for rows in (two, metrics, many):
        made = grids(rows, layout_of(paper, "table2", rows), {})
        assert sum(c is not None for g in made for line in g.lines for c in line.cells) == len(rows)


def test_headings_span_what_they_stand_over():
    rows = [published(1, env=e, queue=q, flow=f) for e in ("a", "b") for q in ("x", "y", "z") for f in (1, 2)]
    (grid,) = grids(rows, Layout(("env", "queue"), ("flow",)), {})
    assert [[h and (h.text, h.span) for h in line.heads] for line in grid.lines[:3]] == [
        [("a", 3), ("x", 1)],
        [None, ("y", 1)],
        [None, ("z", 1)],
    ]
    assert [labels for labels, _ in grid.labels()][4] == ["b", "y"]
    (grid,) = grids(rows, Layout(("queue",), ("env", "flow")), {})
    assert [[(h.text, h.span) for h in level] for level in grid.heads] == [[("a", 2), ("b", 2)], [("1", 1), ("2", 1), ("1", 1), ("2", 1)]]
    assert grid.groups == {2}
    with pytest.raises(PaperError, match="one cell"):
        grids(rows, Layout(("env",), ("flow",)), {})


@pytest.mark.parametrize(
    ("layout", "part", "message"),
    [
        ({"rows": ["client"], "columns": ["queue"]}, "rows", "table2.csv has no factor `client`"),
        ({"rows": ["clients"], "columns": ["queue"]}, "rows", "they differ in `traffic`"),
        ({"rows": ["clients"], "columns": ["queue", "traffic"], "tables": ["metrics"]}, "tables", "no factor `metrics`"),
    ],
)
def test_a_layout_that_does_not_fit_its_table_is_told(layout, part, message):
    paper = papers.load("sarma2013")
    paper.words["experiments"]["table2"]["layout"] = layout
    found = wrong_layout(paper, "table2")
    assert found is not None and found[0] == part and message in found[1]


def test_the_score_counts_what_is_published_once():
    rows = [
        replace(published(10), ours=11.0),  # 10 % off, near
        replace(published(10), ours=13.0),  # 30 % off
        replace(published(10), ours=14.0, low=9.0, high=19.0),  # 40 % off; that it lies in our interval brings it no nearer
        replace(published(10), ours=30.0, impossible=3),  # 200 % off, contradicted
        replace(published(0), ours=1.0),  # a zero that is not met is infinitely far
        published(10),  # not run
    ]
    found = scores(rows)
    assert (found.every.compared, found.every.near, found.every.median) == (5, 1, pytest.approx(0.4))
    assert (found.plain.compared, found.plain.near, found.plain.median) == (4, 1, pytest.approx(0.35))
    assert found.missing == 1
    assert score([replace(published(0), ours=1.0)]).median == math.inf
    assert score([replace(published(0), ours=1.0)]).to_json()["median_difference"] is None
    assert score([replace(published(0), ours=0.0)]).median == 0


def test_a_value_computed_from_others_or_an_input_is_no_result():
    """sarma2013 prints 74 values in Tables 2 to 4; the use of the link, rates and delays of links, and the list of cases are none."""

    class Blank:
        paper = papers.load("sarma2013")
        experiments = ()

    assert len(results_of(Blank())) == 26 + 22 + 26  # type: ignore[arg-type]


def test_ours_is_put_beside_the_published_value_with_its_factors():
    paper = papers.load("sarma2013")
    of = [Compared((("traffic", "UDP"), ("clients", "8.0"), ("queue", "RED")), "packet_loss_rate", "percent", 37.44, 37.5, impossible=5)]
    (hit,) = [x for x in published_rows(paper, "table4", Built(Comparison(of))) if x.ours is not None]
    assert (dict(hit.factors)["clients"], hit.published_text, hit.ours, hit.impossible) == ("8", "37.44", 37.5, 5)


def test_our_mean_in_a_cell_has_no_more_digits_than_its_interval_nor_than_five():
    shown = {(ours, low, high): mean(replace(published(1), ours=ours, low=low, high=high)) for ours, low, high in (
        (0.5, 0.49999995, 0.50000005), (4999.2781, 4999.27, 4999.28), (37.02, 33.0, 41.0), (13.246412, None, None),
    )}  # fmt: skip
    assert list(shown.values()) == ["0.5", "4999.3", "37.0", "13.246"]


def test_every_word_for_a_verdict_has_its_mark_its_count_and_its_colour():
    from conftest import ROOT

    assert set(WORDS) == {"supported", "depends", "only_in_paper_setup", "contradicted", "inconsistent_in_print", "inconclusive"}
    style = (ROOT / "python" / "fairlane" / "look" / "page.css").read_text("utf-8")
    for word in WORDS:
        assert re.search(rf"\.{word}\b[^{{]*{{ --verdict: var\(--\w+\); --verdict-bg: var\(--[\w-]+\); }}", style), word
        assert f'class="badge {word}"' in badge(word)
    assert len({w.sign for w in WORDS.values()}) == len(WORDS)
    assert counts(["supported", "depends", "supported"]) == {"supported": 2, "depends": 1, "contradicted": 0}
    assert percent(0.9999) == "> 99.9 %" and percent(1) == "100 %" and percent(0.00001) == "< 0.1 %"
    assert "<b>" not in badge("supported", why='<b onload="x">')


def drawn(n: int = 40) -> tuple[list[bool], list[float], list[curves.Choice]]:
    places = [(i + 0.5) / n for i in range(n)]
    margins = [p - 0.3 for p in places]
    choices = [
        curves.Choice("path delay", places, [(0, "2ms"), (1, "90ms")], [0.3]),
        curves.Choice("more than one line & <more>", [0.25, 0.75] * (n // 2), [(0.25, "red"), (0.75, "droptail")], (), True),
    ]
    return [m > 0 for m in margins], margins, choices


def test_a_specification_curve_has_every_setting_on_its_side():
    holds, margins, choices = drawn()
    text = str(curves.curve(holds, margins, choices, 'a "label"'))
    ET.fromstring(text)  # well-formed: names are escaped
    assert "holds in 28" in text and "fails in 12" in text and "+69 %" in text
    areas = {kind: len(re.findall(r"V[\d.]+h", path)) for path, kind in re.findall(r'<path d="([^"]*)" class="(t|f)"/>', text)}
    assert areas == {"t": 28, "f": 12}
    dots = re.findall(r'<path d="([^"]*)" class="dots (t|f)"/>', text)
    assert [(d.count("M"), kind) for d, kind in dots] == [(28, "t"), (12, "f")] * 2
    # In the order of the margin: the choice that makes it rises from left to right.
    marks = [tuple(map(int, m)) for d, _ in dots[:2] for m in re.findall(r"M(\d+) (\d+)h0", d)]
    assert [y for _, y in sorted(marks)] == sorted((y for _, y in marks), reverse=True)
    assert "…" not in text and len(text) < 9000  # a page has one for each of forty claims


def test_the_map_has_a_line_where_the_claim_turns():
    holds, _, choices = drawn()
    text = str(curves.chart(holds, *choices, "where"))
    ET.fromstring(text)
    (line,) = re.findall(r'<path d="M(\d+) \d+v\d+" class="turn"/>', text)
    (dots,) = re.findall(r'<path d="([^"]*)" class="dots t large"/>', text)
    (crosses,) = re.findall(r'<path d="([^"]*)" class="cross"/>', text)
    right = [int(x) for x in re.findall(r"M(\d+) ", dots)]
    left = [int(x) + 3 for x in re.findall(r"M(-?\d+) ", crosses)]
    assert len(right) == 28 and len(left) == 12 and max(left) <= int(line) <= min(right)
    levels = {int(y) for y in re.findall(r"M\d+ (\d+)h0", dots)}
    assert len(levels) > 10  # settings of a level stand side by side, not on one another


def test_a_thumbnail_is_small():
    _, margins, _ = drawn(256)
    text = str(curves.thumbnail(margins, "A"))
    ET.fromstring(text)
    assert len(text) < 4500
