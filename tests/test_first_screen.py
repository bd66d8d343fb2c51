"""First screen of a page: who got what, why, what to do next; fairness among flows that compete; the delays of calls."""

from __future__ import annotations

import html
import json
import re
import shlex

import polars as pl
import pytest

import fairlane as fl
from fairlane.cli import invoke
from fairlane.runs.fairness import competitors

HOME = """
duration = "3s"
warmup = "1s"
sample = "50ms"
links.up = { from = "home", to = "net", rate = "5Mbit/s", delay = "15ms" }
flows.call = { from = "home", to = "net", udp = {}, source.cbr = { rate = "64kbit/s", size = "200B" } }
flows.upload = { from = "home", to = "net", count = 2, spread = "500ms", tcp = "cubic" }
flows.download = { from = "net", to = "home", count = 3, spread = "500ms", tcp = "cubic" }
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    file = tmp_path_factory.mktemp("home") / "scenario.toml"
    file.write_text(HOME)
    return file


def index(values: list[float]) -> float:
    """Jain, Chiu and Hawe 1984."""
    return sum(values) ** 2 / (len(values) * sum(x * x for x in values))


def test_a_call_an_upload_and_a_download_are_never_compared(home):
    result = fl.run(home, seeds="1..3")
    found = {c.title: c.flows for c in competitors(result)}
    assert found == {"upload at up": ("upload.0", "upload.1"), "download at up.reverse": ("download.0", "download.1", "download.2")}
    loaded = fl.load(result.save(home.parent / "kept", force=True))
    assert competitors(loaded) == competitors(result)
    text = str(result)
    per_run = result.flows.filter(pl.col("flow").str.starts_with("download")).group_by("seed").agg("goodput")["goodput"].to_list()
    mean = sum(map(index, per_run)) / 3
    row = next(line for line in text.splitlines() if line.startswith("download at up.reverse"))
    assert float(re.search(r" (0\.\d+|1\.0+) ", row)[1]) == pytest.approx(mean, abs=0.01)
    assert "whole network" in text and "Jain" not in text.split("whole network")[1]


def test_two_kinds_of_tcp_flows_at_one_bottleneck_are_compared(home):
    net = fl.Network.from_file(home).replace("flows.download.from", "home").replace("flows.download.to", "net")
    (one,) = competitors(net.run())
    assert one.title == "upload and download at up" and len(one.flows) == 5 and not one.alone


def test_finite_transfers_are_not_compared_with_endless_ones(home):
    net = fl.Network.from_file(home).replace("flows.download.from", "home").replace("flows.download.to", "net")
    titles = [c.title for c in competitors(net.replace("flows.download.amount", "1MB").run())]
    assert titles == ["upload at up", "download at up"]


def document(page: str) -> dict:
    return json.loads(re.search(r'id="charts-of-page">(.*?)</script>', page, re.S)[1])


def test_the_page_says_who_got_what_why_and_what_to_do(home, monkeypatch, capsys):
    monkeypatch.chdir(home.parent)
    assert invoke(["run", "scenario.toml", "--page", "page.html", "-q", "--force"]) == 0
    page = (home.parent / "page.html").read_text("utf-8")
    first = page.split('id="charts"')[0].split("<main")[1]
    goodputs = fl.run("scenario.toml").flows
    rows = re.findall(r'<tr><th scope="row"><i class="key" style="background: var\(--hue(\d)\)"></i>([^<]+)</th>', first)
    assert [name for _, name in rows] == goodputs["flow"].to_list()
    # The colours are those of the charts.
    lines = {x["name"]: x["hue"] % 8 for x in document(page)["charts"]["throughput"]["lines"]}
    assert {name: int(hue) for hue, name in rows} == lines
    assert "application" in first and "congestion window" in first and "Queueing delay is largest at" in first
    commands = [shlex.split(html.unescape(c)) for c in re.findall(r'aria-label="Next command">([^<]+)<', first)]
    assert 1 <= len(commands) <= 2 and commands[0][:2] == ["fairlane", "compare"]
    for command in commands:
        capsys.readouterr()
        assert invoke([*command[1:], "-q"]) == 0, command
    assert (home.parent / "queues.html").exists()


def test_the_delay_of_a_call_over_time_and_its_distribution(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("upload", "download"):
        text = re.sub(rf"^flows.{name}.*\n", "", (home if name == "upload" else tmp_path / "call.toml").read_text(), flags=re.M)
        (tmp_path / "call.toml").write_text(text)
    assert invoke(["run", "call.toml", "--seeds", "1..2", "--page", "page.html", "-q", "-o", "out"]) == 0
    charts = document((tmp_path / "page.html").read_text("utf-8"))["charts"]
    packet = charts["delay"]["lines"][0]["y"]
    # Alone on the link, each packet takes its transmission and the propagation.
    alone = 15 + (200 + 28) * 8 / 5e3
    assert packet == pytest.approx([alone] * len(packet), abs=1e-3)
    assert fl.load("out").mean("flows")["delay_max"].item() == pytest.approx(alone / 1e3, abs=1e-6)
    assert charts["delays"]["lines"][0]["y"][-1] == 1
    assert fl.load("out").trace_folder is None, "the events were for the page alone"
    assert "delay" not in document(fl.load("out").page())["charts"]
