"""Curves in the pages of reproductions are charts that zoom; they show published values next to ours, and each has its numbers."""

from __future__ import annotations

import csv
import io
from xml.etree import ElementTree

import pytest

from devtools import Driven, needed
from fairlane import papers
from fairlane.look.charts import Axes, Curve, Lines
from fairlane.look.panels import live_of
from fairlane.look.series import Series, Trace
from fairlane.papers.definition import Picture
from fairlane.papers.tables import read_csv

pytestmark = pytest.mark.usefixtures("kept_runs")
MOST = 3 << 20
"""Bytes of a page."""
SAVED = """(async () => {
  let saved;
  URL.createObjectURL = blob => { saved = blob; return "#"; };
  document.querySelector("[data-chart=fig3-0] .behind .get").click();
  return await saved.text();
})()"""
"""The file that the button of a chart's numbers saves."""
ONLY = {"sarma2013": ["fig3"], "syla2022": ["fig5", "fig6"]}


def test_the_panels_of_a_figure_stand_side_by_side():
    """Each is a drawing of its own, as wide as on the page, and no id is there twice."""
    panels = [Lines([Curve(c, [1.0, 2.0], [2.0, 3.0])], Axes(c, "clients", "delay, ms", size=(3.0 + i, 2.0))) for i, c in enumerate("abc")]
    root = ElementTree.fromstring(Picture("p", "Three", "", panels).svg)
    parts = [x for x in root if x.tag.endswith("svg")]
    assert [float(x.get("x")) for x in parts] == pytest.approx([0, 3 * 72, 7 * 72])
    assert [[float(x.get(k)) for k in ("width", "height")] for x in parts] == [pytest.approx([72 * w for w in p.size]) for p in panels]
    assert root.get("viewBox") == f"0 0 {12 * 72} {2 * 72}"
    ids = [x.get("id") for x in root.iter() if x.get("id")]
    assert len(ids) == len(set(ids))


def test_a_long_series_keeps_its_peaks_and_its_names():
    values = [1.0] * 5000
    values[1234] = 99.0
    values[3000] = None
    panel = Series([Trace("RED", range(5000), values)], "", "time, s", "packets", level=7.0, spans=[(0, 9, "SS")], bottom=None)
    (chart,), others = live_of([panel], "fig", "Queue")
    assert others == [] and (chart.name, chart.title, chart.x, chart.y) == ("fig-0", "Queue", "time, s", "packets")
    (line,) = chart.lines
    assert len(line.x) < 1300 and max(line.high) == 99 and min(line.low) == 1
    assert line.hue == 1  # RED has its colour on all pages
    assert (chart.levels, chart.spans, chart.from_zero) == (((7.0, ""),), [(0, 9, "SS")], False)
    assert "mean over 5 s" in chart.caption


def test_what_is_published_stands_hollow_beside_ours_and_is_crossed_where_it_cannot_be_right():
    curve = Curve("A", [1, 2, 3], [10, None, 30], [9, None, 29], [11, None, 31], [10, 20, 140], [False, False, True])
    (chart,), (other,) = live_of([Lines([curve], Axes("T", "n", "y", log_x=True, ticks=[1, 2, 3])), "a drawing"], "fig", "Fig")
    ours, published, wrong = chart.lines
    assert (ours.name, list(ours.y), list(ours.low), ours.hollow) == ("A", [10, None, 30], [9, None, 29], False)
    assert (published.name, list(published.y), published.hollow, published.hue) == ("A, published", [10, 20, 140], True, ours.hue)
    assert (wrong.x, wrong.y, wrong.mark, wrong.hue) == ([3], [140], "cross", None)
    assert chart.log_x and chart.from_zero and other == "a drawing"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    made = {key: papers.reproduce(key, only=only, quick=True, out=tmp_path_factory.mktemp(key)) for key, only in ONLY.items()}
    return {key: r.page for key, r in made.items()}


@needed
def test_charts_of_a_reproduction_zoom_on_any_screen_and_have_their_numbers(pages):
    with Driven() as browser:
        for key, page in pages.items():
            assert page.stat().st_size < MOST
            for width, scheme in ((1280, "light"), (390, "dark")):
                browser.console.clear()
                browser.asked.clear()
                browser.open(page, width, prefers_color_scheme=scheme)
                charts = browser.run("document.querySelectorAll('[data-chart]').length")
                assert charts == {"sarma2013": 3, "syla2022": 4}[key]
                assert browser.run("document.querySelectorAll('[data-chart] canvas').length") == charts
                assert browser.run("document.documentElement.scrollWidth") <= width
                assert browser.console == [] and browser.asked == [page.as_uri()]
        at = "['fig5-0', 'fig5-1', 'fig6-0'].map(n => document.querySelector(`[data-chart=${n}] .plot`).dataset.max ?? '')"
        whole = browser.run(at)
        browser.run("document.querySelector('[data-chart=fig5-0] .tools button').click()")
        browser.settle()
        first, second, other = browser.run(at)
        assert first == second != whole[0] and float(first) < 20  # of the first 20 s; those of one figure go together
        assert other == whole[2]
        assert browser.pdf().startswith(b"%PDF")

        browser.open(pages["sarma2013"])
        rows = list(csv.reader(io.StringIO(browser.run(SAVED).removeprefix("\ufeff"))))
        published = [r for r in read_csv(papers.load("sarma2013").folder / "table2.csv") if (r["queue"], r["traffic"]) == ("RED", "TCP")]
        (column,) = [i for i, name in enumerate(rows[0]) if name.startswith("RED, published")]
        found = {float(r[0]): float(r[column]) for r in rows[1:] if r[column]}
        assert found == pytest.approx({float(r["clients"]): float(r["value"]) for r in published}, rel=1e-4)
