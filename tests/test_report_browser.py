"""Pages of reports in headless Chromium: offline, linked zoom and cursor by mouse and keys, telephones, paper, light and dark."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

import fairlane as fl
from devtools import Driven, needed
from test_report import EVIL, network

pytestmark = needed
AT = "document.querySelector('[data-chart={}] .plot').dataset.{}"
SCHEMES = ("light", "dark")


@pytest.fixture(scope="module")
def results() -> list[fl.Result]:
    return [network(queue).run(seeds="1..3") for queue in ("red", "codel")]


@pytest.fixture(scope="module")
def pages(results, tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    results[0].page(folder / "one.html")
    fl.report(results, labels=["red", "codel"]).page(folder / "two.html")
    return {p.stem: p for p in folder.iterdir()}


@pytest.fixture(scope="module")
def browser():
    with Driven() as driven:
        yield driven


def plot(browser: Driven, name: str) -> dict[str, float]:
    """Where the drawing of a chart lies on the screen, after it was scrolled to."""
    box = f"document.querySelector('[data-chart={name}] .u-over')"
    browser.run(f"{box}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
    browser.settle()
    return browser.run(f"(b => ({{left: b.left, top: b.top, width: b.width, height: b.height}}))({box}.getBoundingClientRect())")


def readings(browser: Driven, name: str) -> dict[str, str]:
    """Returns the legend of a chart at the cursor."""
    items = f"[...document.querySelectorAll('[data-chart={name}] .legend-of button')]"
    return dict(browser.run(f"{items}.map(b => [b.childNodes[1].textContent, b.querySelector('.at').textContent])"))


@pytest.mark.parametrize("name", ["one", "two"])
def test_a_page_opens_without_a_network_and_without_complaints(browser, pages, name):
    browser.console.clear()
    browser.asked.clear()
    browser.open(pages[name])
    assert browser.run("document.querySelectorAll('.drawn canvas').length") >= 4
    assert browser.console == []
    assert browser.asked == [pages[name].as_uri()]
    assert browser.run("[...document.querySelectorAll('[href], [src]')].every(x => /^(#|data:)/.test(x.getAttribute('href') || x.src))")


def test_zoom_by_mouse_is_linked_and_taken_back(browser, pages):
    browser.open(pages["one"])
    box = plot(browser, "throughput")
    y = box["top"] + box["height"] / 2
    browser.drag(box["left"] + 0.4 * box["width"], box["left"] + 0.6 * box["width"], y)
    spans = [[float(browser.run(AT.format(c, end))) for end in ("min", "max")] for c in ("throughput", "queue", "cwnd", "srtt")]
    low, high = spans[0]
    assert 1.0 < low < 1.4 and 1.6 < high < 2.0  # of three seconds
    assert all(s == pytest.approx(spans[0]) for s in spans)
    assert browser.run(AT.format("flows", "min")) is None  # another axis
    browser.mouse("mousePressed", box["left"] + 50, y, held=True, clicks=2)
    browser.mouse("mouseReleased", box["left"] + 50, y, clicks=2)
    browser.run("document.querySelector('[data-chart=queue] .tools button:last-child').click()")
    browser.settle()
    assert float(browser.run(AT.format("cwnd", "min"))) <= 0 and float(browser.run(AT.format("cwnd", "max"))) >= 3


def test_pointing_tells_the_values_of_all_charts_at_that_time(browser, pages, results):
    browser.open(pages["one"])
    box = plot(browser, "queue")
    browser.mouse("mouseMoved", box["left"] + 0.5 * box["width"], box["top"] + 30)
    browser.settle()
    at = float(browser.run(AT.format("queue", "at")))
    assert 1.4 < at < 1.6
    frame = results[0].link_series.filter((pl.col("link") == "bottleneck") & (pl.col("seed") == 1) & ((pl.col("time") - at).abs() < 1e-6))
    (queue,) = frame["queue"].to_list()
    assert float(readings(browser, "queue")["bottleneck"]) == pytest.approx(queue)
    flows = results[0].flow_series.filter((pl.col("seed") == 1) & ((pl.col("time") - at).abs() < 1e-6))
    windows = dict(flows.select("flow", pl.col("cwnd") / 1e3).iter_rows())
    shown = readings(browser, "cwnd")
    assert set(shown) == {"tcp.0", "tcp.1"}
    assert all(float(v) == pytest.approx(windows[f], rel=1e-3) for f, v in shown.items())
    browser.mouse("mouseMoved", 2, 2)
    browser.settle()
    assert set(readings(browser, "cwnd").values()) == {""}


def test_keys_do_what_the_mouse_does(browser, pages, results):
    browser.open(pages["one"])
    browser.run("document.querySelector('[data-chart=queue] .plot').focus()")
    for key in ("Home", "ArrowRight", "ArrowRight"):
        browser.key(key)
    times = results[0].link_series["time"].unique().sort()
    assert float(browser.run(AT.format("queue", "at"))) == pytest.approx(times[2])
    assert browser.run(AT.format("cwnd", "at")) != ""
    spoken = browser.run("document.querySelector('[data-chart=queue] [aria-live]').textContent")
    assert "time (s): 0.02" in spoken and "bottleneck " in spoken
    browser.key("End")
    assert float(browser.run(AT.format("queue", "at"))) == pytest.approx(times[-1])
    browser.key("+")
    low, high = (float(browser.run(AT.format("throughput", end))) for end in ("min", "max"))
    assert high - low == pytest.approx(1.5, rel=0.05)
    browser.key("0")
    assert float(browser.run(AT.format("throughput", "max"))) - float(browser.run(AT.format("throughput", "min"))) >= 3
    # Everything that can be worked with is reached by Tab, and says what it is.
    named = (
        "[...document.querySelectorAll('button, summary, [tabindex]')].filter(b => !(b.getAttribute('aria-label') || b.textContent.trim()))"
    )
    assert browser.run(f"{named}.length") == 0


def test_marks_tell_whose_they_are(browser, pages, results):
    browser.open(pages["one"])
    box = plot(browser, "flows")
    browser.run("document.querySelector('[data-chart=flows] .plot').focus()")
    browser.key("Home")
    shown = " ".join(readings(browser, "flows").values())
    fastest = results[0].mean("flows").sort("delay_mean")["flow"][0]
    assert shown.strip().startswith(f"{fastest}: ")
    assert box["width"] > 300


def test_a_line_is_hidden_and_the_values_are_a_table(browser, pages):
    browser.open(pages["one"])
    button = "document.querySelector('[data-chart=cwnd] .legend-of button')"
    browser.run(f"{button}.click()")
    assert browser.run(f"{button}.getAttribute('aria-pressed')") == "false"
    details = "document.querySelector('[data-chart=cwnd] details')"
    assert browser.run(f"{details}.querySelector('table')") is None
    browser.run(f"{details}.open = true")
    browser.settle()
    heads = browser.run(f"[...{details}.querySelectorAll('th[scope=col]')].map(x => x.textContent)")
    assert heads == ["time (s)", "tcp.0", "tcp.1"]
    assert browser.run(f"{details}.querySelectorAll('tbody tr').length") > 100


@pytest.mark.parametrize("name", ["one", "two"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_scrolls_sideways_but_tables_and_networks(browser, pages, name, width):
    browser.open(pages[name], width)
    assert browser.run("document.documentElement.scrollWidth") <= width
    far = "x.getBoundingClientRect().right > innerWidth + 1 && !x.closest('.scroll, .network, pre')"
    out = f"[...document.querySelectorAll('main *')].filter(x => {far})"
    assert browser.run(f"{out}.map(x => x.outerHTML.slice(0, 80))") == []
    assert browser.run("[...document.querySelectorAll('.live canvas')].every(c => c.getBoundingClientRect().width > 250)")
    if width == 390:  # fingers
        assert (
            browser.run("Math.min(...[...document.querySelectorAll('.live .tools button')].map(b => b.getBoundingClientRect().height))")
            >= 36
        )


CONTRAST = """(() => {
  const channel = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const parts = c => c.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const ground = x => {
    for (; x; x = x.parentElement) {
      const c = parts(getComputedStyle(x).backgroundColor);
      if (c.length < 4 || c[3] > 0.5) return c;
    }
    return [255, 255, 255];
  };
  const texts = [...document.querySelectorAll("h1, h2, h4, p, td, th, dt, dd, summary, button, a, pre, figcaption")];
  return texts.filter(x => x.textContent.trim() && x.offsetWidth).map(x => {
    const [a, b] = [light(parts(getComputedStyle(x).color)), light(ground(x))].sort((p, q) => q - p);
    return [(a + 0.05) / (b + 0.05), x.tagName + " " + x.textContent.trim().slice(0, 30)];
  }).filter(([c]) => c < 4.5);
})()"""


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_can_be_read_in_light_and_dark(browser, pages, scheme):
    """WCAG 2.2, 1.4.3: at least 4.5 to 1."""
    browser.open(pages["two"], prefers_color_scheme=scheme)
    assert browser.run(CONTRAST) == []
    # The drawings follow: the colour of the first line is that of the page.
    hue = browser.run("getComputedStyle(document.documentElement).getPropertyValue('--hue0').trim()")
    assert hue == {"light": "#0072b2", "dark": "#58b4f0"}[scheme]
    wanted = [int(hue[i : i + 2], 16) for i in (1, 3, 5)]
    pixels = """(() => {
      const c = document.querySelector("[data-chart=queue] canvas"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
      let n = 0;
      for (let i = 0; i < d.length; i += 4)
        n += d[i + 3] > 250 && Math.abs(d[i] - R) + Math.abs(d[i + 1] - G) + Math.abs(d[i + 2] - B) < 12;
      return n;
    })()"""
    for letter, value in zip("RGB", wanted, strict=True):
        pixels = re.sub(rf"\b{letter}\b", str(value), pixels)
    assert browser.run(pixels) > 50


def test_colours_change_with_the_screen_and_on_paper_are_those_of_light(browser, pages, tmp_path):
    browser.open(pages["one"], prefers_color_scheme="light")
    browser.media(prefers_color_scheme="dark")
    browser.settle()
    assert browser.console == []
    pdf = browser.pdf()
    assert pdf.startswith(b"%PDF")
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not installed")
    (tmp_path / "p.pdf").write_bytes(pdf)
    text = subprocess.run(["pdftotext", str(tmp_path / "p.pdf"), "-"], capture_output=True, text=True, check=True).stdout
    assert "a dumbbell" in text and "Throughput of each flow" in text and "fairlane run scenario.toml" in text


def test_a_page_has_landmarks_and_a_picture_has_words(browser, pages):
    browser.open(pages["two"])
    tree = browser.send("Accessibility.getFullAXTree")["nodes"]
    roles = [n["role"]["value"] for n in tree if not n.get("ignored")]
    assert {"main", "banner", "navigation", "contentinfo"} <= set(roles)
    names = [n["name"]["value"] for n in tree if n["role"]["value"] in ("image", "img") and not n.get("ignored")]
    assert (
        len(names) >= 4
        and all(names)
        and any("Chart of Queue length of bottleneck, queue length (packets) over time (s). red: from" in n for n in names)
    )
    levels = browser.run("[...document.querySelectorAll('h1, h2, h3, h4')].map(h => +h.tagName[1])")
    assert levels[0] == 1 and levels.count(1) == 1


def test_who_wants_no_motion_gets_none(browser, pages):
    browser.open(pages["one"], prefers_reduced_motion="reduce")
    assert browser.run("getComputedStyle(document.documentElement).scrollBehavior") == "auto"


def test_names_with_markup_do_nothing(browser, tmp_path):
    net = fl.Network(name=EVIL, duration="1s", sample="20ms").link("a", "b", name="<u>l", rate="1Mbit/s", delay="1ms")
    net.flow("=cmd()", "a", "b", tcp="sack").flow("</script><img src=x onerror=document.title=1>", "a", "b", tcp="sack")
    result = net.run(seeds="1..2")
    result.page(tmp_path / "one.html")
    fl.report([result, result], labels=[EVIL, "<b>x"]).page(tmp_path / "two.html")
    for name in ("one", "two"):
        browser.console.clear()
        browser.open(tmp_path / f"{name}.html")
        for details in range(3):
            browser.run(f"document.querySelectorAll('.live details')[{details}].open = true")
        browser.settle()
        assert browser.console == [] and browser.run("document.querySelectorAll('img, main u, main b b, script:not([type])').length") == 1
        assert browser.run("document.title").endswith(("run", "comparison"))
    # The CSV file of a chart, as it would be saved.
    browser.open(tmp_path / "one.html")
    browser.run("window.saved = []; HTMLAnchorElement.prototype.click = () => {}")
    browser.run("URL.createObjectURL = b => { saved.push(b); return 'data:,'; }; 0")
    browser.run("document.querySelector('[data-chart=throughput] .behind > button').click()")
    text = base64.b64decode(
        browser.run("saved[0].arrayBuffer().then(b => btoa(String.fromCharCode(...new Uint8Array(b).slice(0, 4000))))")
    ).decode("utf-8", "ignore")
    assert text.startswith("\ufefftime (s),'=cmd(),</script>")
