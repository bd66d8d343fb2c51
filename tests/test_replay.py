"""Single runs seen closer, in pages of comparisons and studies: what limited their flows, and a run that moves in a frame of the page.

What a page says is what `Result.why` of the same run says; a run made again has the fingerprint of the one that is kept.
"""

from __future__ import annotations

import json
import time
from html import unescape

import jsonschema
import pytest

import fairlane as fl
from devtools import Driven, needed
from fairlane.base import toml
from fairlane.base.document import json_schema
from fairlane.cli import invoke

STUDY = """
seeds = "2..3"
[scenario]
duration = "8s"
warmup = "1s"
[scenario.topology.dumbbell]
pairs = 2
access = { rate = "20Mbit/s", delay = "1ms" }
bottleneck = { rate = "3Mbit/s", delay = "20ms" }
[scenario.flows.tcp]
from = "s{i}"
to = "d{i}"
count = 2
spread = "200ms"
tcp = "sack"
[[scenario.at]]
time = "4s"
set = { "links.bottleneck.rate" = "1500kbit/s" }
[metrics]
goodput = "network.goodput"
[factors.queue.levels]
"tail drop" = { "links.bottleneck.queue" = "droptail{limit=30p}" }
codel = { "links.bottleneck.queue" = "codel{limit=30p}" }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("closer")
    (path / "study.toml").write_text(STUDY)
    assert invoke(["study", str(path / "study.toml"), "--out", str(path / "out"), "--quiet"]) == 0
    return path


@pytest.fixture(scope="module")
def study(folder):
    return fl.load_study(folder / "out")


def alone(study, queue: str) -> fl.Result:
    """The run of a combination by itself."""
    net = fl.Network.from_toml(STUDY.split("[metrics]")[0].split("[scenario]")[1].replace("[scenario.", "[").replace("[[scenario.", "[["))
    name = {"tail drop": "droptail", "codel": "codel"}[queue]
    return net.replace("links.bottleneck.queue", {name: {"limit": "30p"}}).run(seed=2, why=True)


def test_a_study_says_why_as_its_runs_do(study):
    found = study.why()
    assert list(found) == ["tail drop", "codel"]
    for queue, why in found.items():
        assert why.document() == alone(study, queue).why().document()
    assert list(study.why(queue="codel")) == ["codel"]
    page = unescape(study.page(why=True))
    assert all(str(flow) in page for why in found.values() for flow in why.flows.values())
    assert "What limited the flows<" in study.page(why=True) and "estimated from counters" not in page
    plain = study.page()
    assert "estimated from counters" in plain and 'id="h-limits">What limited the flows<' not in plain and "<iframe" not in plain


def test_a_change_while_the_network_runs_is_one_in_a_study_and_its_page_too(study, tmp_path):
    """`[[at]]`: from 1 to 4 s at 3 Mbit/s, from 4 to 8 s at half of it, so 15/7 Mbit/s on average; without the change 3."""
    headers = 1460 / 1500
    for goodput in study.runs()["goodput"]:
        assert 0.9 * 15e6 / 7 * headers < goodput < 1.05 * 15e6 / 7 * headers
    (tmp_path / "flat.toml").write_text(STUDY.replace("1500kbit/s", "3Mbit/s"))
    for goodput in fl.Study.from_file(tmp_path / "flat.toml").run().runs()["goodput"]:
        assert 0.9 * 3e6 * headers < goodput < 1.05 * 3e6 * headers
    assert "links.bottleneck.rate" in study.page() and "1500kbit/s" in study.page()


def test_a_replay_is_the_run_that_is_kept(study):
    from fairlane.study.replay import insets

    (one,) = insets(study, ["queue='tail drop'"])
    kept = study.index.filter((study.index["combination"] == 0) & (study.index["seed"] == 2))["fingerprint"][0]
    assert (one.seed, one.fingerprint, one.name, one.one_of) == (2, kept, "tail drop", 1)
    assert (one.begin, one.until) == ("0", "8")


@pytest.mark.parametrize(
    ("replays", "words"),
    [
        (["queue=cdel"], "did you mean 'codel'"),
        (["que=codel"], "did you mean 'queue'"),
        (["codel"], "invalid replay"),
        ([""], "invalid replay"),
        (["queue=codel queue=codel"], "names queue twice"),
        (["queue='codel"], "no closing quotation"),
        (["queue=codel"] * 5, "at most 4"),
    ],
)
def test_a_replay_that_means_nothing_is_told_before_anything_runs(folder, capsys, replays, words):
    options = [x for r in replays for x in ("--replay", r)]
    assert invoke(["study", str(folder / "study.toml"), "--out", str(folder / "never"), *options]) == 2
    output = capsys.readouterr().err
    assert words in output and "Traceback" not in output and not (folder / "never").exists()


def test_the_document_of_a_study_says_it_where_it_is_asked(folder, study, capsys):
    command = ["study", str(folder / "study.toml"), "--out", str(folder / "out"), "--json"]
    assert invoke(command) == 0
    assert "why" not in json.loads(capsys.readouterr().out)
    assert invoke([*command, "--why"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, json_schema("study"))
    assert [(w["factors"], w["seed"]) for w in document["why"]] == [({"queue": "tail drop"}, 2), ({"queue": "codel"}, 2)]
    assert document["why"][1]["why"] == study.why()["codel"].document()


@needed
def test_a_run_moves_in_the_page_and_nothing_else_may(folder, study, tmp_path):
    page = tmp_path / "study.html"
    page.write_text(study.page(replays=["queue=codel", "queue='tail drop'"]), "utf-8")
    assert page.stat().st_size < 1_500_000
    frame = "document.querySelector('iframe.moves')"
    with Driven() as browser:
        for width in (400, 1280):
            browser.open(page, width)
            browser.run(f"{frame}.scrollIntoView()")
            end = time.monotonic() + 20
            while not browser.run(f"{frame}.getBoundingClientRect().width > 200 && document.querySelectorAll('iframe.moves').length === 2"):
                assert time.monotonic() < end
            assert browser.run("document.documentElement.scrollWidth") <= width
            # The frame has an origin of its own: the page does not reach into it, nor it out.
            assert browser.run(f"{frame}.contentDocument") is None
        frames: list[str] = []
        while not frames:
            assert time.monotonic() < end
            frames = [t["targetId"] for t in browser.send("Target.getTargets")["targetInfos"] if t["type"] == "iframe"]
        outer, browser._session = browser._session, browser.send("Target.attachToTarget", targetId=frames[0], flatten=True)["sessionId"]
        for domain in ("Log", "Runtime"):
            browser.send(f"{domain}.enable")
        while browser.run("document.body.dataset.ready") != "yes":
            assert time.monotonic() < end
        assert browser.run("document.querySelector('h1').textContent") in ("codel", "tail drop")
        assert browser.run("document.querySelectorAll('canvas').length") >= 2
        browser.run("fairlaneWatch.seek(4.5e9)")
        assert browser.run("fairlaneWatch.source.recordings[0].ofLink(fairlaneWatch.source.recordings[0].still(4.5e9), 0, 'rate')") == 1.5e6
        browser._session = outer
        assert browser.console == []
        assert [a for a in browser.asked if not a.startswith(("file:", "data:", "about:"))] == []


def test_a_comparison_says_why_in_its_page_and_its_document(tmp_path, capsys):
    command = ["compare", "--queues", "red,codel", "--flows", "2", "--duration", "6s", "--seeds", "1", "--page", str(tmp_path / "c.html")]
    assert invoke([*command, "--why", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, json_schema("compare"))
    page = unescape((tmp_path / "c.html").read_text("utf-8"))
    assert "--why" in document["command"] and "What limited the flows<" in page
    for setting in document["settings"]:
        assert all(f["sentence"] in page for f in setting["why"]["flows"])
        for flow in setting["why"]["flows"]:
            assert sum(s["mean"] for s in flow["shares"].values()) == pytest.approx(1)
    plain = fl.compare(fl.Network.from_toml(toml.dumps(document["scenario"])), queues="red,codel", seed=1)
    text = plain.page()
    assert "estimated from counters" in text and "What limited the flows<" not in text and "why" not in plain.document()["settings"][0]
