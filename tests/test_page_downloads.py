"""Downloads of a page: every picture as SVG, every table as CSV, from the page alone."""

from __future__ import annotations

import base64
import csv
import io
import re
import xml.etree.ElementTree as ET

import pytest

import fairlane as fl
from fairlane.look.templates import csv_link

NETWORK = fl.Network(duration="1s", warmup="200ms", sample="20ms").dumbbell(
    pairs=3, access={"rate": "100Mbit/s", "delay": "1ms"}, bottleneck={"rate": "10Mbit/s", "delay": "5ms"}
)
NETWORK.flow("tcp", "s{i}", "d{i}", tcp="newreno", count=3)


def saved(page: str) -> dict[str, str]:
    """The files in a page by name."""
    found = re.findall(r'<a class="get" download="([^"]+)" href="data:([^;]+);base64,([^"]+)">', page)
    assert len({name for name, _, _ in found}) == len(found), "two files of one name"
    return {name: base64.b64decode(data).decode() for name, _, data in found}


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))


def test_a_comparison_gives_its_pictures_and_exact_numbers():
    done = fl.compare(NETWORK, queues="red,codel", seeds="1..2")
    page = done.page()
    files = saved(page)
    tables = {"differences.csv", "link-bottleneck.csv", "group-tcp.csv", "limits-red.csv", "limits-codel.csv"}
    assert {"ellipses.svg", "queue.svg", "jain.svg", *tables} == set(files)
    assert page.count("<table") <= len(tables) + 1  # the first one has the differences in sentences
    assert [r["flow"] for r in rows(files["limits-red.csv"])] == ["tcp.0", "tcp.1", "tcp.2"]
    for name, text in files.items():
        if name.endswith(".svg"):
            assert ET.fromstring(text).tag.endswith("svg")
    (found,) = [r for r in rows(files["link-bottleneck.csv"]) if (r["setting"], r["metric"]) == ("red", "utilisation")]
    assert float(found["mean"]) == done.setting("red").of_link("utilisation").mean


def test_a_study_begins_with_what_it_found_and_a_picture(tmp_path):
    factors = {"topology.dumbbell.bottleneck.queue": ["red", "codel"], "topology.dumbbell.bottleneck.rate": ["5Mbit/s", "10Mbit/s"]}
    study = fl.Study(NETWORK, factors=factors, seeds="1..3", metrics=["flows.tcp.goodput.sum", "network.jain"], name="small")
    result = study.run(tmp_path / "small")
    page = result.page()
    files = saved(page)
    assert page.index("of the variance") < page.index('<figure class="live">') < page.index("Study design") < page.index("<table")
    means = rows(files["summary.csv"])
    assert [float(r["mean"]) for r in means] == result.summary()["mean"].to_list()
    assert len(rows(files["runs.csv"])) == 12
    assert sum(name.endswith(".svg") for name in files) == len(result.plots())
    assert page.count("<table") <= sum(name.endswith(".csv") for name in files)


@pytest.mark.parametrize("text", ["=1+1", "+cmd", "-x", "@sum", "\tx"])
def test_no_cell_is_a_formula(text):
    (name,) = re.findall(r"base64,([^\"]+)", str(csv_link((["a"], [[text], ["-1.5"], ['"q", x']]), 'a "name"/..')))
    rows = list(csv.reader(io.StringIO(base64.b64decode(name).decode())))
    assert [r[0] for r in rows[1:]] == [f"'{text}", "-1.5", '"q", x']
