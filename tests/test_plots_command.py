"""`fairlane plot`: results, studies and scenarios, what it writes and what it refuses; the pages of the gallery."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from conftest import ROOT
from fairlane.base.document import json_schema
from fairlane.cli import invoke
from fairlane.runs.plots import KINDS

SCENARIO = """
name = "two"
duration = "3s"
warmup = "500ms"
[topology.dumbbell]
pairs = 2
access = { rate = "100Mbit/s", delay = "1ms" }
bottleneck = { rate = "5Mbit/s", delay = "5ms", queue.droptail = { limit = "15p" } }
[flows.tcp]
from = "s{i}"
to = "d{i}"
count = 2
tcp = "sack"
"""
STUDY = """
scenario = "two.toml"
seeds = "1..2"
metrics = ["network.goodput"]
[set]
sample = "20ms"
[factors]
"links.bottleneck.queue" = ["droptail", "codel"]
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plots")
    (folder / "two.toml").write_text(SCENARIO)
    (folder / "study.toml").write_text(STUDY)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert invoke(["run", "two.toml", "--set", "sample=20ms", "--seeds", "1..2", "--trace", "-o", "with", "-q"]) == 0
        assert invoke(["run", "two.toml", "-o", "without", "-q"]) == 0
        assert invoke(["study", "study.toml", "--out", "points", "--quiet"]) == 0
    return folder


@pytest.fixture(autouse=True)
def here(place, monkeypatch):
    monkeypatch.chdir(place)


def refused(capsys, *words: str) -> str:
    before = sorted(p.name for p in Path.cwd().iterdir())
    capsys.readouterr()
    assert invoke(["plot", *words]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "Traceback" not in err and sorted(p.name for p in Path.cwd().iterdir()) == before
    return err


def test_a_folder_is_drawn_to_standard_output_or_into_a_file(capsys, tmp_path):
    assert invoke(["plot", "with", "window"]) == 0
    out, err = capsys.readouterr()
    assert ET.fromstring(out[out.index("<svg") :]).tag.endswith("svg") and err == ""
    path = tmp_path / "x.pdf"
    assert invoke(["plot", "with", "delay-cdf", "--style", "ieee", "-o", str(path)]) == 0
    assert path.read_bytes().startswith(b"%PDF") and "wrote" in capsys.readouterr().out
    assert "exists" in refused(capsys, "with", "window", "-o", str(path))
    assert invoke(["plot", "with", "window", "-o", str(path), "--force"]) == 0


def test_the_document_says_what_is_drawn(capsys):
    assert invoke(["plot", "A=with", "B=with", "jain-time", "--seed", "all", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, json_schema("plot"))
    assert [r["label"] for r in document["results"]] == ["A", "B"] and document["file"] is None
    assert {d["role"] for d in document["panels"][0]["drawn"]} == {"line", "band"}


def test_a_scenario_is_run_with_what_the_picture_needs(capsys):
    """No sample and no events in the file: the command records them, and the packets for SACK blocks, and leaves nothing behind."""
    assert invoke(["plot", "two.toml", "sequence", "--json"]) == 0
    roles = {d["role"] for d in json.loads(capsys.readouterr().out)["panels"][0]["drawn"]}
    assert {"segment", "acknowledged", "window", "SACK", "dropped", "retransmission"} <= roles
    assert invoke(["plot", "two.toml", "queue-events", "--seed", "3", "--set", "links.bottleneck.queue=red", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["results"][0]["seeds"] == [3]
    assert not list(Path.cwd().glob("*.pcapng"))


def test_points_of_a_study(capsys):
    assert invoke(["plot", "points", "window", "--panel", "queue", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [p["title"] for p in document["panels"]] == ["droptail", "codel"]
    assert invoke(["plot", "points", "queue-events", "--where", "queue=codel", "--json"]) == 0
    (panel,) = json.loads(capsys.readouterr().out)["panels"]
    assert any("codel: target" in d["name"] for d in panel["drawn"])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            ("without", "window"),
            'which this result does not have: set sample = "20ms" in the scenario, or --set sample=20ms',
        ),
        (("without", "delay-cdf"), "fairlane run FILE --trace 'event=send,retransmit,receive'"),
        (("window", "two.toml"), "the plot kind comes last"),
        (("study.toml", "window"), "study.toml is not a scenario but a study: fairlane study study.toml"),
        (("nowhere", "window"), "result nowhere not found: give a result folder"),
        (("with",), "which plot? fairlane plot with KIND"),
        (("with", "windw"), "did you mean 'window'?"),
        (("with", "window", "--seeds", "1..3"), "--seed N selects a run"),
        (("with", "window", "--set", "duration=3s"), "--set needs a scenario file"),
        (("with", "window", "--panel", "queue"), "need the folder of a study, and with is not one"),
        (("points", "window", "--panel", "quee"), "did you mean 'queue'"),
        (("points", "window", "--where", "queue"), "write FACTOR=LEVEL"),
        (("points", "drop-timeline"), "needs recorded events"),
        (("with", "window", "--seed", "x"), "write a number, or all"),
        (("with", "window", "-o", "x.gif"), "must end in .svg, .png, .pdf"),
        (("with", "window", "-o", "no/such/x.svg"), "does not exist"),
        (("with", "fct"), "give sources an end"),
    ],
)
def test_what_cannot_be_drawn_is_refused_before_anything_is_written(words, expected, capsys):
    message = refused(capsys, *words)
    assert expected in message and message.startswith("error: ") and message.count("\n") == 1


def test_the_list_names_all_kinds_theory_and_styles(capsys):
    assert invoke(["plot", "--list", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [k["name"] for k in document["kinds"]] == list(KINDS)
    assert all(t["says"] for t in document["theory"]) and all(s["source"] for s in document["styles"])
    assert invoke(["plot", "--list"]) == 0
    assert all(name in capsys.readouterr().out for name in ["window"])


# --- the gallery ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def gallery():
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        import gallery

        yield gallery
    finally:
        sys.path.pop(0)


def test_the_gallery_has_a_page_for_every_kind_as_its_script_writes_them(gallery):
    assert set(KINDS) <= {e.name for e in gallery.ENTRIES}
    for entry in gallery.ENTRIES:
        assert (gallery.FOLDER / f"{entry.name}.md").read_text("utf-8") == gallery.page(entry)
        assert (gallery.FOLDER / "img" / f"{entry.name}.svg").is_file()
    assert (gallery.FOLDER / "README.md").read_text("utf-8") == gallery.index()
    assert {p.stem for p in gallery.FOLDER.glob("*.md")} == {e.name for e in gallery.ENTRIES} | {"README"}
    assert {p.stem for p in (gallery.FOLDER / "img").iterdir()} == {e.name for e in gallery.ENTRIES}


@pytest.mark.parametrize("name", ["paper"])
def test_commands_and_calls_draw_the_same_bytes(name, gallery):
    """`drawn` makes each picture twice, and fails if they differ."""
    assert b"<svg" in gallery.drawn(next(e for e in gallery.ENTRIES if e.name == name))


@pytest.mark.long
def test_the_whole_gallery_is_drawn(gallery):
    for entry in gallery.ENTRIES:
        assert b"<svg" in gallery.drawn(entry), entry.name


def test_what_was_imported_is_drawn(tmp_path, monkeypatch, capsys):
    """A capture at the sender has round trips and no delays, a trace of ns-2 drops without reasons."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.toml").write_text(SCENARIO)
    assert invoke(["run", "two.toml", "--pcap", "tcp.0", "--trace", "--trace-format", "ns2", "-o", "lines", "-q"]) == 0
    assert invoke(["import", "lines/trace/seed=1.tr", "-o", "ns2"]) == 0 and invoke(["import", "lines/tcp.0.pcapng", "-o", "captured"]) == 0
    capsys.readouterr()
    assert invoke(["plot", "ns2", "drop-timeline", "--json"]) == 0
    (lane,) = json.loads(capsys.readouterr().out)["panels"][0]["drawn"]
    assert lane["name"] == "reason not recorded" and len(lane["x"]) > 3
    for kind in ("sequence", "rtt-cdf"):
        assert invoke(["plot", "captured", kind, "-o", f"{kind}.svg"]) == 0
    assert "at one host only" in refused(capsys, "captured", "delay-cdf")
