"""Results in notebooks: pictures that a fresh kernel shows, escaped HTML, and figures of the requested quantities."""

from __future__ import annotations

import html.parser
import importlib.util
import math
import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import fairlane as fl
from conftest import ROOT

EVIL = "<b>x & $y$"


def network(name: str = EVIL, **settings) -> fl.Network:
    net = fl.Network(**({"duration": "2s", "warmup": "500ms", "sample": "20ms", "name": name} | settings))
    net.dumbbell(pairs=4, access={"rate": "100Mbit/s", "delay": "1ms"}, bottleneck={"rate": "10Mbit/s", "delay": "5ms", "queue": "red"})
    net.flow("tcp", "s{i}", "d{i}", tcp="newreno", count=3)
    return net.flow("udp", "s3", "d3", udp={}, source={"cbr": {"rate": "2Mbit/s", "size": "500B", "jitter": 0.5}})


@pytest.fixture(scope="module")
def result() -> fl.Result:
    return network().run(seeds="1..4")


class Tags(html.parser.HTMLParser):
    """Tags and text; void elements and those of SVG that stand alone need no end."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.words: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs)
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_a_network_is_drawn_and_a_result_is_a_table(result):
    shown = Tags(network()._repr_html_())
    assert {"svg", "details"} <= shown.seen and "b" not in shown.seen
    assert EVIL in " ".join(shown.words) and "s0" in "".join(shown.words) and "10 Mbit/s" in "".join(shown.words)
    table = Tags(result._repr_html_())
    assert {"table", "td"} <= table.seen and "b" not in table.seen
    goodput = result.value("goodput", flow="udp").mean
    assert goodput is not None and f"{goodput / 1e6:.1f}" in "".join(table.words)


def test_names_are_text_in_every_html():
    net = fl.Network(duration="1s", sample="20ms", name="<script>").link("a<i>", "b&c", name="l<u>", rate="1Mbit/s", delay="1ms")
    net.flow("<b>x", "a<i>", "b&c", tcp="sack").flow("_y", "a<i>", "b&c", tcp="sack")
    done = net.run(seeds="1..2")
    for shown in (net._repr_html_(), done._repr_html_(), fl.compare(net, queues="red,codel", seeds="1..2")._repr_html_()):
        tags = Tags(shown)
        assert not tags.seen & {"script", "u", "b", "i"}
        assert "<b>x" in "".join(tags.words) or "l<u>" in "".join(tags.words) or "a<i>" in "".join(tags.words)
    names = [t.get_text() for t in done.plot("cwnd").axes[0].get_legend().get_texts()]
    assert names[0] == "<b>x" and names[1].endswith("_y")


def test_a_network_that_is_not_ready_says_what_is_missing():
    shown = "".join(Tags(fl.Network(duration="1s")._repr_html_()).words)
    assert "there are no flows" in shown
    bad = fl.Network(duration="1").link("a", "b", rate="<b>", delay="1ms").flow("x", "a", "c", tcp="newrno")
    assert "b" not in Tags(bad._repr_html_()).seen


def test_tables_and_what_is_to_be_recorded_show_themselves():
    from fairlane.look.sheet import Sheet

    table = Tags(Sheet(["flow", "goodput"], [["<b>x", "1 Mbit/s"]])._repr_html_())
    assert {"table", "td"} <= table.seen and "b" not in table.seen and "<b>x" in table.words
    words = Tags(fl.Trace(events=("drop", "mark"), flows="<b>", time=(None, "3s"))._repr_html_())
    assert {"drop, mark", "<b>", "the start to 3s", "all"} <= set(words.words) and "b" not in words.seen


def test_a_result_tells_what_it_has_on_record(tmp_path):
    kept = network(duration="1s", sample=None).run()
    assert "Recorded events" not in kept._repr_html_() and "Captured packets" not in kept._repr_html_()
    kept.trace_folder, kept.captures = tmp_path, [tmp_path / "bottleneck.pcapng"]
    shown = "".join(Tags(kept._repr_html_()).words)
    assert "result.trace()" in shown and "bottleneck.pcapng" in shown and 'result.page("page.html")' in shown


def test_intervals_say_how_many_values():
    assert fl.interval([1.0, 2.0, 3.0])._repr_html_() == "<b>2.0 ± 2.5</b> <small>(95 %, 3 runs)</small>"
    assert "no value" in fl.interval([])._repr_html_()


def test_statistics_say_their_sentence():
    from fairlane import stats

    paired = stats.paired([1.0, 2.0, 3.5], [1.5, 2.5, 4.5])
    assert Tags(paired._repr_html_()).words == [str(paired)]
    frame = pl.DataFrame({"q": ["<b>"] * 4 + ["x"] * 4, "y": [1.0, 2, 3, 2, 4, 5, 6, 4]})
    shown = Tags(stats.anova(frame, "y", ["q"])._repr_html_())
    assert "residual" in "".join(shown.words) and "td" in shown.seen


def test_several_quantities_stand_below_one_another(result):
    figure = result.plot("queue", "cwnd", "jain", group=True, seed="all")
    assert [a.get_ylabel().split(" (")[0] for a in figure.axes] == ["queue length", "congestion window", "Jain's fairness index"]
    assert [a.get_ylabel() for a in result.plot(["queue", "cwnd"]).axes] == [a.get_ylabel() for a in result.plot("queue", "cwnd").axes]


def test_a_band_is_the_interval_over_the_runs(result):
    line = result.plot("queue", link="bottleneck", seed="all").axes[0]
    (band,) = line.collections
    (mean,) = line.get_lines()
    at = 60
    time = mean.get_xdata()[at]
    values = [v for t, v in result.link_series.filter(pl.col("link") == "bottleneck").select("time", "queue").iter_rows() if t == time]
    iv = fl.interval(values, within=(0.0, math.inf))
    assert mean.get_ydata()[at] == pytest.approx(iv.mean)
    heights = {round(y, 9) for x, y in band.get_paths()[0].vertices if x == time}
    assert {round(iv.low, 9), round(iv.high, 9)} <= heights


def test_a_group_is_one_line(result):
    one = result.plot("cwnd", group="tcp").axes[0].get_lines()
    assert len(one) == 1
    each = [line.get_ydata() for line in result.plot("cwnd", flow="tcp").axes[0].get_lines()]
    assert len(each) == 3
    assert one[0].get_ydata() == pytest.approx(np.mean(each, axis=0), nan_ok=True)
    total = result.plot("goodput", group="tcp", aggregate="sum").axes[0].get_lines()[0].get_ydata()
    assert total == pytest.approx(3 * result.plot("goodput", group="tcp").axes[0].get_lines()[0].get_ydata())


def test_many_flows_are_told_by_their_groups():
    net = (
        network(duration="1s")
        .replace("topology.dumbbell.pairs", 20)
        .replace("flows.tcp.count", 15)
        .replace("flows.udp.from", "s19")
        .replace("flows.udp.to", "d19")
    )
    many = net.run()
    names = [t.get_text().replace("\n", " ") for t in many.plot("cwnd").axes[0].get_legend().get_texts()]
    assert names == ["tcp (mean of 15 flows)"]
    assert len(many.plot("cwnd", flow="tcp").axes[0].get_lines()) == 15
    bars = [t.get_text() for t in many.plot("goodput", kind="bars", group=True).axes[0].get_yticklabels()]
    assert [b.replace("\n", " ") for b in bars] == ["tcp (mean of 15 flows)", "udp"]


def test_the_warm_up_is_shaded(result):
    axes = result.plot("queue").axes[0]
    (span,) = axes.patches
    assert span.get_x() == 0 and span.get_width() == pytest.approx(0.5)
    assert "warm-up" in [t.get_text() for t in axes.texts]
    assert not network(warmup="0s", duration="1s").run().plot("queue").axes[0].patches


def test_ones_own_axes_are_drawn_into(result):
    from matplotlib.figure import Figure

    own = Figure()
    above, below = own.subplots(2)
    assert result.plot("queue", ax=above) is own and result.plot("cwnd", "queue", ax=[above, below]) is own
    assert above.get_lines() and below.get_lines()
    with pytest.raises(fl.FairlaneError, match="2 quantities need 2 axes"):
        result.plot("cwnd", "queue", ax=above)


@pytest.mark.parametrize(
    ("what", "options", "words"),
    [
        ("cwind", {}, ("did you mean 'cwnd'", "over time, of links: queue, queue_bytes", "of the network: goodput")),
        ("nothing_like_it", {}, ("over time, of flows: cwnd",)),
        ("queue", {"flow": "tcp"}, ("leave out flow=",)),
        ("cwnd", {"group": "tpc"}, ("did you mean 'tcp'",)),
        ("cwnd", {"flow": "tcp.9"}, ("tcp.",)),
        ("cwnd", {"seed": 9}, ("known are 1, 2, 3, 4, all",)),
        ("cwnd", {"group": True, "aggregate": "men"}, ("'mean'",)),
        ("cwnd", {"kind": "bar"}, ("'bars'",)),
    ],
)
def test_what_is_not_there_names_what_is(result, what, options, words):
    with pytest.raises(fl.FairlaneError) as e:
        result.plot(what, **options)
    assert all(w in str(e.value) for w in words)


def test_a_figure_shows_itself(result):
    data, size = result.plot("queue")._repr_png_()
    assert data.startswith(b"\x89PNG") and size["width"] > 400
    assert fl.compare(network(duration="1s"), queues="red", seeds="1").plot("queue")._repr_png_()[0].startswith(b"\x89PNG")


KERNEL = """
import sys
import nbclient, nbformat
cells = sys.stdin.read().split("---")
book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
nbclient.NotebookClient(book, timeout=120).execute()
for cell in book.cells:
    print(*(kind for out in cell.outputs for kind in out.get("data", {}) if kind.startswith(("image/", "text/html"))))
"""


@pytest.mark.skipif(any(importlib.util.find_spec(m) is None for m in ("nbclient", "ipykernel")), reason="no Jupyter kernel is installed")
def test_a_fresh_kernel_shows_pictures_without_magic(dumbbell):
    run = f"import fairlane as fl\nr = fl.run({str(dumbbell)!r}, sets={{'sample': '20ms'}})\nr"
    cells = "---".join([run, "r.plot('queue')", f"fl.Network.from_file({str(dumbbell)!r})"])
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'python'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run([sys.executable, "-c", KERNEL], input=cells, capture_output=True, text=True, check=True, env=env)
    assert done.stdout.split("\n")[:3] == ["text/html", "image/png", "text/html"]


def test_what_is_to_be_run_shows_itself():
    shown = Tags(fl.Pcap({"<b>x": "a<i>.pcapng"}, queue=True)._repr_html_())
    assert not {"b", "i"} & shown.seen and "queue lengths as comments" in "".join(shown.words)
    shown = Tags(
        fl.Study(
            network(), factors={"links.bottleneck.rate": ["5Mbit/s", "10Mbit/s"]}, seeds="1..3", metrics=["network.jain"]
        )._repr_html_()
    )
    assert "b" not in shown.seen and "2 combinations on 3 seeds: 6 runs." in shown.words and "5 Mbit/s, 10 Mbit/s" in shown.words
    goals = {"links.bottleneck.sojourn_p99": "min", "flows.tcp.goodput": "max"}
    search = fl.Tuning(network(), link="bottleneck", objectives=goals, search={"droptail": {"limit": {"from": "2p", "to": "50p"}}})
    shown = Tags(search._repr_html_())
    assert "b" not in shown.seen and "higher is better" in shown.words and "Among: droptail." in shown.words
