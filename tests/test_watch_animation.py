"""Page of `fairlane watch` in headless Chromium: it opens moving, names events, draws all flows, and shows a lesson."""

# ruff: noqa: E501
from __future__ import annotations

import html
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import fairlane as fl
from conftest import ROOT
from devtools import Driven, needed
from fairlane import watch

pytestmark = needed
TEN = """
name = "ten flows"
duration = "60s"
[topology.dumbbell]
pairs = 10
access = { rate = "100Mbit/s", delay = "5ms" }
bottleneck = { rate = "20Mbit/s", delay = "20ms", queue.droptail.limit = "80p" }
[flows.tcp]
from = "s{i}"
to = "d{i}"
count = 10
stagger = "100ms"
tcp = { cc = "cubic" }
"""
LAST = "fairlaneWatch.source.recordings[0].latest"


def chain(**more: object) -> fl.Network:
    net = fl.Network(name="a chain", duration="10s", **more)
    net.link("sender", "router", rate="50Mbit/s", delay="5ms", name="up")
    net.link("router", "receiver", rate="5Mbit/s", delay="20ms", name="down", queue={"droptail": {"limit": "30p"}})
    return net.flow("tcp", "sender", "receiver", tcp={"cc": "newreno"}, count=3)


@pytest.fixture(scope="module")
def ten(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("ten")
    (folder / "ten.toml").write_text(TEN)
    watch.save(folder / "ten.toml", folder / "ten.html")
    return folder / "ten.html"


@pytest.fixture(scope="module")
def short(tmp_path_factory) -> Path:
    page = tmp_path_factory.mktemp("chain") / "chain.html"
    watch.save(chain(), page)
    return page


@pytest.fixture(scope="module")
def browser() -> Iterator[Driven]:
    with Driven() as driven:
        yield driven


def until(browser: Driven, script: str, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not browser.run(script):
        assert time.monotonic() < end, script
        time.sleep(0.03)


def ready(browser: Driven, page: Path, width: int = 1280, hash_of: str = "", **media: str) -> None:
    browser.console.clear()
    browser.visit("about:blank")
    browser.visit(page.absolute().as_uri() + hash_of, width, 900, **media)
    until(browser, "document.body.dataset.ready === 'yes' && fairlaneWatch.frames > 1")


# --- time ---------------------------------------------------------------------------------------------


def test_a_page_opens_moving_and_says_how_fast(short, browser):
    ready(browser, short, prefers_reduced_motion="no-preference")
    until(browser, "fairlaneWatch.playing && fairlaneWatch.time > 0")
    assert browser.run("document.querySelector('.speed').textContent.endsWith(' of network a second')")
    assert browser.run("getComputedStyle(document.querySelector('.big')).display") == "none"
    browser.key("+")
    assert browser.run("fairlaneWatch.scheduled") is False
    browser.key("a")
    assert browser.run("fairlaneWatch.scheduled && fairlaneWatch.speed === fairlaneWatch.schedule.slow")
    assert browser.console == []


def test_who_wants_no_motion_gets_a_big_button(short, browser):
    ready(browser, short, prefers_reduced_motion="reduce")
    browser.settle()
    assert browser.run("[fairlaneWatch.playing, fairlaneWatch.time]") == [False, 0]
    size = browser.run("(b => [b.width, b.height])(document.querySelector('.big').getBoundingClientRect())")
    assert min(size) >= 90
    browser.run("document.querySelector('.big').click()")
    until(browser, "fairlaneWatch.playing && fairlaneWatch.time > 0")


def test_the_address_names_a_time(short, browser):
    ready(browser, short, hash_of="#t=2.5", prefers_reduced_motion="reduce")
    assert browser.run("fairlaneWatch.time") == 2.5e9
    browser.run("location.hash = '#t=7'")
    until(browser, "fairlaneWatch.time === 7e9")
    browser.run("location.hash = '#t=none'")
    browser.settle()
    assert browser.run("fairlaneWatch.time") == 7e9


def test_a_frame_in_a_page_opens_moving(tmp_path, browser):
    inner = html.escape(watch.record(chain(), until="2s").page())
    (tmp_path / "outer.html").write_text(
        f"<!doctype html><div style='height:3000px'></div><iframe class='moves' width=900 height=600 srcdoc='{inner}'></iframe>"
    )
    browser.visit((tmp_path / "outer.html").as_uri(), 1280, 900, prefers_reduced_motion="no-preference")
    frame = "document.querySelector('iframe').contentWindow.fairlaneWatch"
    until(browser, f"Boolean({frame}) && {frame}.frames > 1")
    # It waits until it is seen.
    assert browser.run(f"{frame}.time") == 0
    browser.run("document.querySelector('iframe').scrollIntoView()")
    until(browser, f"{frame}.playing && {frame}.time > 0")


def test_a_frame_draws_the_network_once_and_the_charts_never_anew(ten, browser):
    ready(browser, ten, prefers_reduced_motion="reduce")
    browser.run("fairlaneWatch.seek(5e9), fairlaneWatch.toggle()")
    browser.settle()
    counted = json.loads(
        browser.run(
            """new Promise(done => {
              const [view, charts] = [fairlaneWatch.views[0].view, fairlaneWatch.curves], draw = view.draw.bind(view);
              let drawn = 0, frames = 0, redrawn = 0;
              view.draw = (...given) => { drawn += 1; draw(...given); };
              for (const p of charts.parts) p.plot.hooks.draw = [...(p.plot.hooks.draw ?? []), () => (redrawn += 1)];
              const [from, built, ticks] = [fairlaneWatch.time, charts.built, fairlaneWatch.frames];
              const frame = () => {
                frames += 1;
                if (frames < 60) requestAnimationFrame(frame);
                else done(JSON.stringify({ drawn, redrawn, built: charts.built - built, ticks: fairlaneWatch.frames - ticks, moved: fairlaneWatch.time - from }));
              };
              requestAnimationFrame(frame);
            })"""
        )
    )
    assert counted["ticks"] in (59, 60) and counted["drawn"] == counted["ticks"]
    assert (counted["redrawn"], counted["built"]) == (0, 0)
    assert counted["moved"] > 0


# --- events -------------------------------------------------------------------------------------------


def test_events_are_named_marked_and_jumped_to(short, browser):
    sim = chain().start()
    while sim._core.seek(sim._core.end, "drop", sim.time == 0, 50_000) is None:
        pass
    first = sim._core.now // 1000
    ready(browser, short, prefers_reduced_motion="reduce")
    found = {e["kind"]: e for e in json.loads(browser.run("JSON.stringify(fairlaneWatch.timeline.events.filter(e => e.main))"))}
    assert found["drop"]["time"] == first
    # Slow start ends with the first threshold, soon after the first loss.
    assert first < found["exit"]["time"] < first + 1e9
    assert browser.run("document.querySelectorAll('.ticks i.main').length") == len(found)
    browser.run("[...document.querySelectorAll('.events button')].find(b => b.textContent.includes('first drop')).click()")
    assert browser.run("fairlaneWatch.time") == first
    assert "first drop: tcp." in browser.run("document.querySelector('.happens').textContent")
    browser.key("Home")
    times = []
    for _ in range(3):
        browser.key("n")
        times.append(browser.run("fairlaneWatch.time"))
    assert times == sorted(set(times)) and times[0] > 0
    browser.key("N")
    assert browser.run("fairlaneWatch.time") == times[1]
    # Named when it happens, too.
    browser.run(f"fairlaneWatch.seek({first - 10_000_000}), document.querySelector('.happens').textContent = ''")
    browser.run("fairlaneWatch.paced(100), fairlaneWatch.toggle()")
    until(browser, "document.querySelector('.happens').textContent.includes('first drop')")


# --- the network --------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [390, 1280])
def test_senders_are_left_and_names_cover_no_queue(short, ten, width, browser):
    for page in (short, ten):
        ready(browser, page, width, prefers_reduced_motion="reduce")
        browser.run("fairlaneWatch.seek(4e9)")
        found = json.loads(
            browser.run(
                """(v => JSON.stringify({ at: v.at, names: v.names, bars: v.bars.filter((_, i) => v.shown[i]),
                nodes: v.model.nodes, flows: v.model.flows, wide: v.wide, high: v.high }))(fairlaneWatch.views[0].view)"""
            )
        )
        assert found["bars"]
        for f in found["flows"]:
            assert found["at"][f["from"]][0] < found["at"][f["to"]][0]
        if page is short:
            x = {n["name"]: at for n, at in zip(found["nodes"], found["at"], strict=True)}
            assert x["sender"][0] < x["router"][0] < x["receiver"][0]
            assert x["sender"][1] == x["router"][1] == x["receiver"][1]
        for name in found["names"]:
            assert 0 <= name["left"] < name["right"] <= found["wide"] and 0 <= name["top"] < name["bottom"] <= found["high"]
            for b in found["bars"]:
                for k in range(41):
                    for side in (-0.5, 0, 0.5):
                        x = b["x"] + b["ux"] * b["long"] * k / 40 - b["uy"] * b["thick"] * side
                        y = b["y"] + b["uy"] * b["long"] * k / 40 + b["ux"] * b["thick"] * side
                        assert not (name["left"] < x < name["right"] and name["top"] < y < name["bottom"]), name["words"]


# --- charts -------------------------------------------------------------------------------------------


def test_all_flows_are_drawn_and_the_legend_picks(ten, browser):
    ready(browser, ten, prefers_reduced_motion="reduce")
    lines = "Object.fromEntries(fairlaneWatch.curves.parts.map(p => [p.key, p.lines.length]))"
    found = browser.run(lines)
    assert (found["windows"], found["rates"]) == (10, 10)
    assert found["queues"] == found["crossed"] >= 1
    browser.run("document.querySelector('[data-pick=\"flow 7\"]').click()")
    colours = "fairlaneWatch.curves.parts[0].plot.series.slice(1).map(s => s._stroke ?? s.stroke())"
    browser.settle()
    drawn = browser.run(colours)
    assert [c.startswith("rgba") for c in drawn] == [k != 7 for k in range(10)]
    browser.run("document.querySelector('.chip.all:not([hidden])').click()")
    browser.settle()
    assert not any(c.startswith("rgba") for c in browser.run(colours))
    # The first eight differ by colour, the others by pattern.
    assert len(set(browser.run(colours))) == 8
    assert browser.run("fairlaneWatch.curves.parts[0].plot.series.slice(1).map(s => (s.dash ?? []).length > 0)") == [False] * 8 + [True] * 2


def test_rates_are_what_crossed_the_links(short, browser):
    """Data released in order is no rate: the window of a repair would show many times the rate of the link."""
    ready(browser, short, prefers_reduced_motion="reduce")
    series = (
        "(k => (p => p.plot.data.slice(1).map((y, n) => [p.lines[n], Array.from(y)]))(fairlaneWatch.curves.parts.find(p => p.key === k)))"
    )
    names = browser.run("fairlaneWatch.model.links.map(l => l.name)")
    limit = {"up": 50.0, "down": 5.0, "up.reverse": 50.0, "down.reverse": 5.0}
    crossed = browser.run(f"{series}('crossed')")
    assert names[crossed[-1][0]] == "down"
    for link, values in crossed:
        assert max(v for v in values if v is not None) <= limit[names[link]]
    flows = [values for _, values in browser.run(f"{series}('rates')")]
    # A packet counts whole when it arrives: at most one per flow over the span of a point, ten seconds by 60 or more.
    total = [sum(v or 0 for v in at) for at in zip(*flows, strict=True)]
    assert max(total) <= 5.0 + 3 * 1500 * 8 / (10 / 60) / 1e6
    sim = chain().start()
    sim.advance()
    arrived = browser.run(f"Array.from({LAST}.arrived)")
    metrics = [f.metrics["throughput"] * 10 / 8 for f in sim.flows.values()]
    assert arrived == pytest.approx(metrics, rel=1e-6)


def test_totals_go_on_at_the_end_of_the_warm_up(tmp_path, browser):
    watch.save(chain(warmup="3s"), tmp_path / "warm.html")
    watch.save(chain(), tmp_path / "cold.html")
    found = []
    for name in ("warm", "cold"):
        ready(browser, tmp_path / f"{name}.html", prefers_reduced_motion="reduce")
        found.append(browser.run(f"[Array.from({LAST}.arrived), Array.from({LAST}.crossed)]"))
    (a, b), (c, d) = found
    assert a == pytest.approx(c, abs=1501) and b == pytest.approx(d, abs=1501)


def test_a_chart_grows_on_a_click_and_all_zoom_together(short, browser):
    ready(browser, short, prefers_reduced_motion="reduce")
    box = "(b => [b.left, b.top, b.width, b.height])(document.querySelector('[data-curve=queues] .u-over').getBoundingClientRect())"
    browser.run("document.querySelector('[data-curve=queues]').scrollIntoView({ block: 'center', behavior: 'instant' })")
    browser.settle()
    left, top, wide, high = browser.run(box)
    # The charts fill the page.
    assert browser.run("document.querySelector('.curves').getBoundingClientRect().width") > 0.95 * 1280
    assert wide > 400 and high > 150
    browser.drag(left + 0.25 * wide, left + 0.5 * wide, top + high / 2)
    scales = browser.run("fairlaneWatch.curves.parts.map(p => [p.plot.scales.x.min, p.plot.scales.x.max])")
    assert all(s == scales[0] for s in scales)
    assert scales[0] == pytest.approx([2.5, 5], abs=0.1)
    # The part moves with the time.
    for at in (3e9, 8e9):
        browser.run(f"fairlaneWatch.seek({at})")
        browser.settle()
    low, end = browser.run("(s => [s.min, s.max])(fairlaneWatch.curves.parts[3].plot.scales.x)")
    assert low < 8 < end and end - low == pytest.approx(scales[0][1] - scales[0][0])
    browser.key("Z")
    assert browser.run("(s => [s.min, s.max])(fairlaneWatch.curves.parts[1].plot.scales.x)") == [0, 10]
    left, top, wide, high = browser.run(box)
    browser.mouse("mouseMoved", left + 50, top + 50)
    browser.mouse("mousePressed", left + 50, top + 50, held=True)
    browser.mouse("mouseReleased", left + 50, top + 50, clicks=1)
    browser.settle()
    grown = browser.run(box)
    assert grown[2] > 1.8 * wide and grown[3] > 1.4 * high
    browser.key("e")
    assert browser.run("document.querySelector('.large').dataset.curve") == "crossed"
    assert browser.console == []


def test_a_minute_of_ten_flows_is_below_a_megabyte(ten):
    assert ten.stat().st_size < 1_000_000
    many = TEN.replace("20Mbit/s", "90Mbit/s")
    (ten.parent / "many.toml").write_text(many)
    made = watch.record(ten.parent / "many.toml")
    assert len(made.page().encode()) < 1_000_000
    # All packets of the first seconds, then a sample.
    assert made.one_of > 1 and made.head["opening"] > 5e8


def test_a_sampled_recording_follows_every_packet_at_first(tmp_path, browser):
    net = chain()
    made = watch.record(net, most=9_000)
    assert made.one_of > 1
    made.save(tmp_path / "x.html")
    watch.save(net, tmp_path / "all.html")
    seen = {}
    opening = made.head["opening"]
    assert 0 < opening < 5e9
    for name in ("x", "all"):
        ready(browser, tmp_path / f"{name}.html", prefers_reduced_motion="reduce")
        for at in (opening - 1e8, opening + 2e9):
            browser.run(f"fairlaneWatch.seek({at})")
            seen[name, at] = browser.run("fairlaneWatch.views[0].view.seen")
    assert seen["x", opening - 1e8] == seen["all", opening - 1e8] > 0
    assert seen["x", opening + 2e9] < seen["all", opening + 2e9] / 1.5
    # What waited at the change is not shown for ever.
    assert browser.console == []


# --- a lesson -----------------------------------------------------------------------------------------

LESSON = """
[[steps]]
at = "0s"
say = "Watch what happens to the window."
[[steps]]
at = "3.2s"
say = "It halved."
[[questions]]
ask = "Why?"
answer = "Because of a <b>drop</b>."
"""


@pytest.mark.parametrize("width", [390, 1280])
def test_a_lesson_shows_one_sentence_at_a_time(width, browser, tmp_path):
    (tmp_path / "lesson.toml").write_text(LESSON)
    watch.save(chain(), tmp_path / "lesson.html", lesson=tmp_path / "lesson.toml")
    ready(browser, tmp_path / "lesson.html", width, prefers_reduced_motion="no-preference")
    sentence = "document.querySelector('.sentence').textContent"
    assert browser.run(sentence) == "Watch what happens to the window."
    until(browser, "fairlaneWatch.playing && fairlaneWatch.time > 0")
    browser.run("fairlaneWatch.paced(125)")
    until(browser, "!fairlaneWatch.playing")
    # It stops at the time of the next sentence.
    assert browser.run("fairlaneWatch.time") == 3.2e9
    assert browser.run(sentence) == "It halved."
    shown = "[...document.querySelectorAll('.questions details p')].map(p => p.checkVisibility())"
    assert browser.run(shown) == [False]
    browser.run("document.querySelector('.questions summary').click()")
    assert browser.run(shown) == [True]
    assert browser.run("document.querySelector('.questions details p').textContent") == "Because of a <b>drop</b>."
    browser.run("document.querySelector('.step-back').click()")
    assert browser.run(f"[fairlaneWatch.time, {sentence}]") == [0, "Watch what happens to the window."]
    assert browser.run("document.documentElement.scrollWidth") <= width
    # All is in the page.
    assert browser.run("document.querySelector('.sentence').getBoundingClientRect().bottom") < 400
    assert browser.console == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_lesson_of_the_course_fits_a_phone(scheme, browser, tmp_path):
    lesson = ROOT / "examples" / "lessons" / "round-trips"
    watch.save(lesson / "scenario.toml", tmp_path / "x.html", lesson=lesson / "questions.toml")
    ready(browser, tmp_path / "x.html", 390, prefers_color_scheme=scheme)
    assert browser.run("document.documentElement.scrollWidth") <= 390
    small = "[...document.querySelectorAll('.lesson button, .bar button')].filter(b => b.checkVisibility() && b.getBoundingClientRect().height < 36).map(b => b.textContent)"
    assert browser.run(small) == []


def test_a_wireless_network_is_shown(browser, tmp_path):
    made = watch.save(ROOT / "examples" / "wireless_mesh.toml", tmp_path / "x.html", until="500ms")
    assert {"mesh", "roof0"} <= {n["name"] for n in made.head["nodes"]}
    ready(browser, tmp_path / "x.html", prefers_reduced_motion="reduce")
    browser.run("fairlaneWatch.seek(4e8)")
    assert browser.run(f"{LAST}.crossed.some(v => v > 0)")
    assert browser.console == []
