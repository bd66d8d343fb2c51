"""Pictures for everybody and for paper, of strange names, many flows and nothing at all; errors, and the document."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import jsonschema
import numpy as np
import polars as pl
import pytest

import fairlane as fl
from conftest import ROOT
from fairlane import watch
from fairlane.base.document import json_schema
from fairlane.base.metrics import metrics, series
from fairlane.look import theme
from fairlane.runs.charts import charts
from fairlane.runs.plots import KINDS, formulas
from fairlane.runs.plots.figure import draw
from fairlane.runs.plots.pen import ink
from fairlane.runs.plots.styles import STYLES
from plot_cases import axes_of, lines

GOLDEN = Path(__file__).parent / "golden" / "plots"


# --- for everybody, and for paper -----------------------------------------------------------------------------

_SIGHTS = {
    "normal": np.eye(3),
    "protanopia": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    "deuteranopia": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]),
    "tritanopia": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
}
"""Kinds of sight, severity 1 (Machado, Oliveira and Fernandes 2009, table 1)."""


def _lab(colour: str, matrix: np.ndarray) -> np.ndarray:
    c = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.clip(matrix @ np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4), 0, 1)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ linear / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def _light(colour: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    c = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return float(np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("screen", ["light", "dark"])
def test_eight_colours_are_distinct_for_every_kind_of_sight(screen):
    css = (ROOT / "python/fairlane/look/page.css").read_text("utf-8").split("@media screen")
    of = dict(re.findall(r"--(\w+): (#\w{6});", css[screen == "dark"].split("}")[0]))
    hues = [of[f"hue{i}"] for i in range(len(theme.HUES))]
    assert screen == "dark" or tuple(hues) == theme.HUES
    assert len(hues) == 8
    for name, sight in _SIGHTS.items():
        for i, a in enumerate(hues):
            for b in hues[:i]:
                assert np.linalg.norm(_lab(a, sight) - _lab(b, sight)) > 20, (name, a, b)
    # Against the page, as lines need it (WCAG 2.2, criterion 1.4.11).
    for a in hues:
        light = sorted((_light(a), _light(of["face"])))
        assert (light[1] + 0.05) / (light[0] + 0.05) >= 3, a


def test_neighbours_stay_apart_in_grey():
    for i in range(12):
        for j in range(i):
            a, b = ink(i), ink(j)
            assert i > 6 or a.dash != b.dash
            assert a.colour != b.colour or a.dash != b.dash
            assert i > 8 or a.marker != b.marker


def test_a_flow_and_a_link_have_one_colour_on_every_chart():
    """By the order of declaration, whatever a chart leaves out."""
    net = fl.Network(duration="2s", sample="50ms")
    net.link("a", "b", rate="5Mbit/s", delay="5ms", name="first").link(
        "b", "c", rate="1Mbit/s", delay="5ms", name="second", queue={"droptail": {"limit": "20p"}}
    )
    net.flow("voice", "a", "c", udp={}, source={"cbr": {"rate": "64kbit/s", "size": "200B"}}).flow("tcp", "a", "c", tcp={}, count=9)
    result = net.run()
    # The queue of the second link alone, and windows without the flow that has none.
    found = {c.name: {line.name: line.hue for line in c.lines} for c in charts(result)}
    assert found["queue"]["second"] == 6
    # A group has the colour of its first flow.
    assert found["cwnd"] == {"tcp": 1}
    assert {"voice": 0, "tcp": 1}.items() <= found["throughput"].items()
    window = draw([("", result)], "window", flow=["tcp.4", "tcp.8"])
    assert [window.pens[0].inks[f] for f in ("tcp.4", "tcp.8")] == [5, 9]
    figure = result.plot("cwnd", flow="tcp.8")
    line = figure.axes[0].lines[0]
    assert (line.get_color(), line.get_linestyle()) == (theme.HUES[1], "--")
    head = watch.record(net, until="1s").head
    assert {f["name"]: f["hue"] for f in head["flows"]} == {"voice": 0, **{f"tcp.{k}": k + 1 for k in range(9)}}
    assert {x["name"]: x["hue"] for x in head["links"] if not x["name"].endswith("reverse")} == {"first": 7, "second": 6}


@pytest.mark.parametrize("style", [s for s in STYLES if s != "screen"])
def test_a_figure_has_the_width_of_the_column(result, style, tmp_path):
    path = tmp_path / "x.pdf"
    result.plot("window", style=style, path=path)
    data = path.read_bytes()
    box = data[data.index(b"/MediaBox") :].split(b"]")[0].split(b"[")[1].split()
    assert float(box[2]) / 72 == pytest.approx(STYLES[style].width, abs=0.01)
    # Letters as TrueType outlines, no bitmaps of the kind 3 that publishers refuse.
    assert b"/FontFile2" in data and b"/Type3" not in data


def test_columns_are_those_of_the_templates():
    expected = {"ieee": 3.5, "ieee-wide": 7.16, "acm": 3.336, "usenix": 3.335, "lncs": 122 / 25.4, "a4": 160 / 25.4}
    assert {s: STYLES[s].width for s in expected} == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_the_same_picture_has_the_same_bytes(result, ending, tmp_path):
    kind = {"svg": "throughput-stack", "pdf": "sequence", "png": "sharing"}[ending]
    first, second = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    result.plot(kind, path=first, style="acm")
    result.plot(kind, path=second, style="acm")
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_looks_as_it_did(kind, result, files):
    """Small, and without letters, so that fonts and versions of the library may differ."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.testing.compare import calculate_rms
    from PIL import Image

    kept = {"flow": "plain.0"} if kind == "sequence" else {}
    drawn = draw([("", files if kind == "fct" else result)], kind, size=(3.0, 2.0), **kept)
    jsonschema.validate(json.loads(json.dumps(drawn.document(), allow_nan=False)), json_schema("plot"))
    figure = drawn.figure
    for axes in figure.axes:
        for text in axes.texts:
            text.set_visible(False)
        axes.set(title="", xlabel="", ylabel="")
        axes.tick_params(labelbottom=False, labelleft=False, labelright=False, which="both")
    for legend in figure.legends:
        legend.remove()
    figure.set_layout_engine("none")
    figure.subplots_adjust(0.05, 0.05, 0.95, 0.95)
    for axes, place in zip(figure.axes, ([0.05, 0.05, 0.8, 0.9], [0.9, 0.05, 0.05, 0.9]), strict=False):
        axes.set_position(place)
    figure.set_dpi(60)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    now = np.asarray(canvas.buffer_rgba())[..., :3].astype(int)
    path = GOLDEN / f"{kind}.png"
    if os.environ.get("FAIRLANE_BLESS"):
        GOLDEN.mkdir(parents=True, exist_ok=True)
        Image.fromarray(now.astype(np.uint8)).save(path, optimize=True)
    before = np.asarray(Image.open(path).convert("RGB")).astype(int)
    assert before.shape == now.shape
    assert calculate_rms(before, now) < 9
    assert now.std() > 4  # something is drawn


# --- strangers ------------------------------------------------------------------------------------------------

EVIL = "<script>alert(1)</script>$x^{$&\"'_%\\frac"


def test_names_are_text(tmp_path):
    from xml.etree import ElementTree as ET

    net = fl.Network(duration="2s", sample="20ms", name=EVIL)
    net.link("a", "b", name="l<i>&$", rate="2Mbit/s", delay="5ms", queue={"droptail": {"limit": "5p"}})
    net.flow(EVIL, "a", "b", tcp="sack").flow("_$\\alpha$", "a", "b", tcp="sack")
    done = net.run(trace=True)
    for kind in ("sequence", "queue-events", "sharing", "drop-timeline", "loss-throughput", "ellipses"):
        path = tmp_path / f"{kind}.svg"
        fl.plot({EVIL: done, "$y_{": done}, kind, path=path, **({"flow": EVIL} if kind == "sequence" else {}))
        root = ET.fromstring(path.read_text("utf-8"))
        assert not [e for e in root.iter() if e.tag.endswith("script")]
    texts = "".join((t.text or "") for t in ET.fromstring((tmp_path / "sequence.svg").read_text("utf-8")).iter())
    assert "<script>" in texts
    for ending in ("pdf", "png"):
        fl.plot({EVIL: done}, "window", path=tmp_path / f"x.{ending}")


def test_very_long_names_leave_room_for_the_picture():
    net = fl.Network(duration="1s", sample="20ms", name="n" * 3000)
    net.link("a", "b", rate="2Mbit/s", delay="5ms").flow("f" * 500, "a", "b", tcp="sack").flow("g" * 500, "a", "b", tcp="sack")
    figure = fl.plot({"r" * 900: net.run()}, "window")
    figure.canvas.draw()
    box = figure.axes[0].get_position()
    assert box.width > 0.5 and box.height > 0.35
    assert max(len(t.get_text()) for t in figure.legends[0].get_texts()) < 120


def test_a_thousand_flows():
    net = fl.Network(duration="1s", sample="50ms")
    net.dumbbell(
        pairs=1000, access={"rate": "100Mbit/s", "delay": "1ms"}, bottleneck={"rate": "100Mbit/s", "delay": "5ms", "queue": "droptail"}
    )
    many = net.flow("tcp", "s{i}", "d{i}", tcp="newreno", count=1000, spread="500ms").run(trace="drop,send,retransmit,receive")
    assert len(lines(axes_of(many, "window", theory="fair"))) == 1  # the mean of the group
    assert axes_of(many, "sharing").get_images()[0].get_array().shape[0] == 1000
    for kind in ("rtt", "delay-cdf", "throughput-stack", "jain-time", "drop-timeline", "ellipses", "phase", "loss-throughput"):
        draw([("", many)], kind)
    with pytest.raises(fl.FairlaneError, match="more than"):
        draw([("", many)], "sequence", flow="tcp")


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_missing_is_said_in_one_line(kind):
    """No samples, no events, no sender: a plot, or an error that says how to get it."""
    net = fl.Network(duration="1s").link("a", "b", rate="1Mbit/s", delay="5ms")
    bare = net.flow("u", "a", "b", udp={}, source={"cbr": {"rate": "100kbit/s", "size": "100B"}}, start="900ms").run()
    try:
        figure = bare.plot(kind)
    except fl.FairlaneError as e:
        message = str(e)
        assert "\n" not in message and len(message) < 320
        if KINDS[kind].sample:
            assert "--set sample=" in message
        elif KINDS[kind].trace:
            assert "--trace" in message or "TCP" in message
    else:
        assert kind == "ellipses" and figure.axes


@pytest.mark.parametrize("kind", KINDS)
def test_one_sample_constant_series_and_nobody(kind):
    net = fl.Network(duration="1s", sample="600ms").link("a", "b", name="l", rate="1Mbit/s", delay="5ms")
    net.flow("u", "a", "b", udp={}, source={"cbr": {"rate": "100kbit/s", "size": "100B"}})
    net.flow("idle", "a", "b", tcp={}, start="990ms").flow("tcp", "a", "b", tcp={}, source={"file": {"size": "3kB"}})
    done = net.run(trace=True)
    try:
        figure = done.plot(kind)
    except fl.FairlaneError as e:
        assert kind in ("jain-scale", "loss-throughput"), str(e)
        return
    figure.canvas.draw()
    assert all(np.isfinite([*a.get_xlim(), *a.get_ylim()]).all() for a in figure.axes)


def test_no_flow_that_ends_is_an_error_that_says_what_to_do(result):
    with pytest.raises(fl.FairlaneError, match="none did: give sources an end"):
        result.plot("fct")


def test_ones_own_axes_are_drawn_into(result):
    from matplotlib.figure import Figure

    own = Figure()
    left, right = own.subplots(1, 2)
    assert result.plot("window", ax=left) is own and result.plot("rtt", ax=right) is own
    assert left.get_lines() and right.get_lines() and left.get_legend() is not None and not own.legends
    left.set_title("mine")
    assert left.get_title() == "mine"
    with pytest.raises(fl.FairlaneError, match="2 panels need 2 axes"):
        fl.plot({"a": result, "b": result}, "sharing", ax=left)


@pytest.mark.parametrize(
    ("what", "options", "words"),
    [
        ("window", {"theory": "pftk"}, "can show bdp, fair; use pftk with loss-throughput"),
        ("window", {"theory": "bpd"}, "'bdp'"),
        ("window", {"time": "3s"}, "write 10s..20s"),
        ("window", {"time": "3s..2s"}, "is empty"),
        ("window", {"time": "100s..200s"}, "no samples in the selected span"),
        ("window", {"style": "eee"}, "'ieee'"),
        ("window", {"seed": 7}, "known are 1, 2, all"),
        ("window", {"flow": "plian"}, "did you mean 'plain'"),
        ("window", {"group": True}, "group= applies to quantities"),
        ("queue-events", {"link": "botleneck"}, "did you mean 'bottleneck'"),
        ("queue-events", {"link": "bottleneck", "theory": "md1"}, None),
        ("delay-cdf", {"theory": "md1"}, None),
        ("fct", {"time": "1s..2s"}, "leave out --time"),
        ("jain-time", {"flow": "ecn"}, "at least two flows"),
    ],
)
def test_what_cannot_be_drawn_names_what_can(result, what, options, words):
    if words is None:  # a link that is always busy has no such queue, one that is not has
        try:
            result.plot(what, **options)
        except fl.FairlaneError as e:
            assert "at full load" in str(e)
        return
    with pytest.raises(fl.FairlaneError) as e:
        result.plot(what, **options)
    assert words in str(e.value) and "\n" not in str(e.value)


def test_two_pictures_at_once_are_refused(result):
    with pytest.raises(fl.FairlaneError, match="'window' is a figure of its own"):
        result.plot("window", "queue")


def test_no_kind_is_called_as_a_quantity():
    known = {m.name for m in metrics()} | {s.name for s in series()}
    assert not set(KINDS) & known
    assert all(set(k.theory) <= set(formulas.NAMES) for k in KINDS.values())
    assert set(formulas.NAMES) == {t for k in KINDS.values() for t in k.theory}


def test_the_document_has_the_numbers_of_the_picture(result):
    found = draw([("", result)], "window", flow="ecn").document()
    rows = result.flow_series.filter((pl.col("seed") == 1) & (pl.col("flow") == "ecn"))
    assert found["panels"][0]["y"]["unit"] == "kB"
    assert [y for y in found["panels"][0]["drawn"][0]["y"] if y is not None] == pytest.approx(
        [x / 1e3 for x in rows["cwnd"].to_list() if x == x]
    )


def test_the_gallery_shows_every_kind():
    pages = {p.stem for p in (ROOT / "docs" / "gallery").glob("*.md")}
    assert set(KINDS) <= pages
