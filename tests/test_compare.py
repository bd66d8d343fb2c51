"""`fairlane compare`: queues as they are written, the ellipses, the document, the page, errors."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairlane as fl
from conftest import DUMBBELL, fairlane
from fairlane.base.choices import choices, limited
from fairlane.base.document import json_schema
from fairlane.base.metrics import jain
from fairlane.comparison import Ellipse, default_network, ellipse
from test_cli_errors import check

SHORT = ("--duration", "6s", "--seeds", "1..3")


@pytest.fixture(scope="module")
def doc():
    done = fairlane("compare", "--queues", "red, droptail{limit=20p}, red:ns2", *SHORT, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("red", [{"red": {}}]),
        ("RED,pfifo", [{"red": {}}, {"droptail": {}}]),
        ("red:ns2", [{"red": {"preset": "ns2"}}]),
        ("red:ns2{min=5p, ecn=true}", [{"red": {"preset": "ns2", "min": "5p", "ecn": True}}]),
        ('red{max_p=0.1,w_q=2e-3,min="5p"}', [{"red": {"max_p": 0.1, "w_q": 0.002, "min": "5p"}}]),
        ("{red={spare=1}}, droptail", [{"red": {"spare": 1}}, {"droptail": {}}]),
        ("red{a={b=[1,x y,{c=2}]},d.e=1}", [{"red": {"a": {"b": [1, "x y", {"c": 2}]}, "d": {"e": 1}}}]),
    ],
)
def test_queues_as_they_are_written(text, values):
    assert [c.value for c in choices(text)] == values


def test_inner_queues_read_as_in_toml():
    import tomllib

    written = 'classes = [{ match = "tcp", queue.red = { max = "60p" } }, { queue = "droptail" }]'
    (choice,) = choices("red{" + written + "}")
    assert choice.value == {"red": tomllib.loads(written)}


@pytest.mark.parametrize(
    "text", ["", "red,", ",red", "red{", "red{min}", "red{min=}", "red{min=1p", "red}", "red:", "red{min=1p,min=2p}", "9", "{}"]
)
def test_unreadable_queues(text):
    with pytest.raises(fl.FairlaneError, match=r"cannot read queue|unknown queue"):
        choices(text)


def test_braces_without_end_are_an_error_not_a_crash():
    with pytest.raises(fl.FairlaneError, match="cannot read queues"):
        choices("red{a=" + "[" * 5000)


@given(st.lists(st.tuples(st.floats(0, 1e3), st.floats(0, 1e9)), min_size=1, max_size=30))
def test_the_ellipse_is_the_normal_law_of_maximum_likelihood(points):
    e = ellipse(points)
    xy = np.array(points)
    assert (e.delay, e.throughput) == pytest.approx(xy.mean(axis=0), rel=1e-9, abs=1e-9)
    assert np.array(e.covariance) == pytest.approx(np.cov(xy.T, bias=True), rel=1e-6, abs=1e-3)


def test_the_contour_has_mahalanobis_distance_one():
    e = Ellipse(9, 3.0, 40.0, ((2.0, 3.0), (3.0, 50.0)))
    inverse = np.linalg.inv(np.array(e.covariance))
    for x, y in e.contour():
        d = np.array([x - 3.0, y - 40.0])
        assert d @ inverse @ d == pytest.approx(1.0, rel=1e-9)


def test_a_flow_that_delivered_nothing_is_no_point():
    assert ellipse([(float("nan"), 0.0)]) is None
    assert ellipse([(float("nan"), 0.0), (1.0, 2.0)]).n == 1


def test_jain_of_one_hog_among_n_is_one_over_n():
    assert jain([5.0, 0.0, 0.0, 0.0]) == 0.25
    assert jain([2.0] * 7) == pytest.approx(1.0)


def test_the_document_follows_its_schema(doc):
    jsonschema.validate(doc, json_schema("compare"))
    assert [q["name"] for q in doc["settings"]] == ["red", "droptail{limit=20p}", "red:ns2"]
    assert doc["settings"][1]["queue"]["droptail"]["limit"] == "20p"
    assert (doc["link"], doc["seeds"]) == ("bottleneck", [1, 2, 3])


def test_the_numbers_of_the_document_agree_with_one_another(doc):
    for q in doc["settings"]:
        tcp, udp = q["groups"]
        assert (tcp["name"], tcp["flows"], udp["name"], udp["flows"]) == ("tcp", 5, "udp", 1)
        assert tcp["ellipse"]["n"] == 15 and udp["ellipse"]["n"] == 3
        flows = {f["name"]: f for f in q["flows"]}
        total = sum(flows[f"tcp.{i}"]["goodput"]["mean"] for i in range(5))
        assert tcp["goodput_sum"]["mean"] == pytest.approx(total)
        assert tcp["ellipse"]["throughput"] == pytest.approx(sum(flows[f"tcp.{i}"]["throughput"]["mean"] for i in range(5)) / 5)
        assert udp["ellipse"]["delay"] == pytest.approx(flows["udp"]["delay_mean"]["mean"])
        # A ninth of the queue's time series lies in the warm-up, so its mean is only near the exact one.
        assert len(q["series"]["time"]) > 900
    by_name = {q["name"]: q for q in doc["settings"]}
    assert max(by_name["droptail{limit=20p}"]["series"]["queue"]) <= 20
    assert len({tuple(q["fingerprints"]) for q in doc["settings"]}) == 3


def test_comparing_one_queue_is_running_it(doc):
    result = default_network(duration="6s", warmup="1s").replace("links.bottleneck.queue", {"droptail": {"limit": "20p"}}).run(seeds="1..3")
    assert doc["settings"][1]["fingerprints"] == result.fingerprints
    assert doc["settings"][1]["network"]["jain"] == pytest.approx(result.value("jain").as_dict())


def test_the_built_in_scenario_is_half_udp():
    expanded = default_network().resolve()["expanded"]
    rates = {x["name"]: (x["rate"], x["delay"]) for x in expanded["links"]}
    assert rates["bottleneck"] == ("10Mbit/s", "20ms")
    assert {v for k, v in rates.items() if not k.startswith("bottleneck")} == {("100Mbit/s", "1ms")}
    assert len(expanded["flows"]) == 6
    assert default_network().to_dict()["flows"]["udp"]["source"]["cbr"]["rate"] == "5Mbit/s"


def test_tables_for_people(tmp_path):
    done = fairlane("compare", "--queues", "red,droptail{limit=20p}", *SHORT, "--flows", "2", "--udp", "none", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "droptail{limit=20p}" in done.stdout and "±" in done.stdout and "Jain" in done.stdout
    assert "udp" not in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_page_and_pictures(tmp_path):
    args = ("compare", "--queues", "red,droptail{limit=20p}", *SHORT, "--page", "p.html", "--plot", "ellipses.svg", "--plot", "jain.png")
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        assert fairlane(*args, "--quiet", cwd=tmp_path / name).returncode == 0
    page = (tmp_path / "a" / "p.html").read_text("utf-8")
    outside = {a for a in re.findall(r'(?:src|href|action)\s*=\s*"([^"#]+)', page) if not a.startswith("data:")}
    assert outside == set() and "@import" not in page and page.count("<script>") == 1
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    for svg in re.findall(r"<svg.*?</svg>", page, re.S):
        ET.fromstring(svg.replace("xlink:href", "href"))
    assert page.count("<svg") == 2 + 2 + 1  # ellipses, shares, the network
    queue = json.loads(re.search(r'id="charts-of-page">(.*?)</script>', page)[1])["charts"]["queue-0"]
    assert [line["name"] for line in queue["lines"]] == ["red", "droptail"]
    assert (tmp_path / "a" / "jain.png").read_bytes().startswith(b"\x89PNG")
    for name in ("p.html", "ellipses.svg"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_any_link_of_any_scenario(tmp_path):
    text = DUMBBELL.replace("queue.droptail", "queue.red").replace('limit = "20p"', "")
    (tmp_path / "x.toml").write_text(text)
    args = ("compare", "--scenario", "x.toml", "--queues", "droptail{limit=5p}", "--seeds", "1", "--json")
    back = json.loads(fairlane(*args, "--link", "bottleneck.reverse", cwd=tmp_path).stdout)
    assert back["settings"][0]["link"]["from"] == "r2"
    assert back["settings"][0]["queue"] == {"droptail": {"limit": "5p", "admit": "fits"}}
    document = json.loads(fairlane(*args, cwd=tmp_path).stdout)
    assert document["settings"][0]["link"]["queue_max"]["mean"] <= 5
    assert document["settings"][0]["fingerprints"] != back["settings"][0]["fingerprints"]
    assert document["scenario"]["duration"] == "5s"
    plain = json.loads(fairlane("compare", "x.toml", *args[3:], cwd=tmp_path).stdout)
    assert [q["fingerprints"] for q in plain["settings"]] == [q["fingerprints"] for q in document["settings"]]


def test_the_common_limit_spares_those_with_their_own():
    c = fl.compare(default_network(duration="3s", warmup="1s"), queues="droptail,droptail{limit=9p},red", seed=1, limit="30p")
    found = [q["queue"] for q in c.document()["settings"]]
    assert [next(iter(f.values()))["limit"] for f in found] == ["30p", "9p", "30p"]


def test_the_common_limit_is_that_of_the_leaves_of_a_tree():
    (tree,) = choices("prio{classes=[{match=tcp, queue=codel}, {match=udp, queue.tbf={queue.droptail={limit=9p}}}, {match=any}]}")
    classes = limited(tree, "30p")["prio"]["classes"]
    assert classes[0]["queue"] == {"codel": {"limit": "30p"}}
    assert classes[1]["queue"] == {"tbf": {"queue": {"droptail": {"limit": "9p"}}}}
    assert classes[2]["queue"] == {"droptail": {"limit": "30p"}}
    assert "limit" not in limited(tree, "30p")["prio"]
    # DRR by flows has one buffer for all; DRR by classes has theirs.
    by_flow, by_class = choices("drr,drr{classes=[{match=tcp, queue=codel}]}")
    assert limited(by_flow, "30p") == {"drr": {"limit": "30p"}}
    assert limited(by_class, "30p") == {"drr": {"classes": [{"match": "tcp", "queue": {"codel": {"limit": "30p"}}}]}}


BAD = {
    "unknown queue": (["--queues", "redd"], r"unknown queue 'redd': did you mean 'red'"),
    "unknown parameter": (["--queues", "droptail,red{minn=5p}"], r"red\{minn=5p\}.*unknown key `minn`.*`min`"),
    "no unit": (["--queues", "red{min=5}"], r"red\{min=5\}.*no unit.*\"5p\""),
    "unknown preset": (["--queues", "red:ns5"], r"red:ns5.*ns5.*`ns2`"),
    "contradiction": (["--queues", "red{min=50p,max=5p}"], r"upper threshold"),
    "twice": (["--queues", "red,RED"], r"twice"),
    "unknown link": (["--link", "bottelneck"], r"bottelneck.*'bottleneck'"),
    "no such file": (["--scenario", "nope.toml"], r"nope\.toml"),
    "two scenarios": (["x.toml", "--scenario", "y.toml"], r"unexpected argument \"x.toml\": one scenario can be given"),
    "flows of a file": (["--scenario", "nope.toml", "--flows", "3"], r"--set"),
    "bad rate": (["--udp", "5ms"], r"rate"),
    "no flow": (["--flows", "0", "--udp", "none"], r"at least one flow"),
    "bad duration": (["--duration", "6"], r"unit"),
    "bad limit": (["--queues", "red", "--limit", "9"], r"bare number"),
    "bad seeds": (["--seeds", "one"], r"1\.\.10"),
    "unknown picture": (["--plot", "elipses.svg"], r"elipses.*ellipses"),
    "no format": (["--plot", "ellipses"], r"\.svg"),
    "no page": (["--page", "x.pdf"], r"\.html"),
    "no folder": (["--page", "nope/x.html"], r"nope"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name, tmp_path):
    args, expected = BAD[name]
    check(fairlane("compare", *(() if "--queues" in args else ("--queues", "droptail")), *args, cwd=tmp_path), expected)
    assert list(tmp_path.iterdir()) == []


def test_a_scenario_with_many_links_wants_a_name(tmp_path):
    (tmp_path / "x.toml").write_text(
        'duration = "1s"\n' + "".join(f'[links.{n}]\nfrom = "{n}"\nto = "{m}"\nrate = "1Mbit/s"\ndelay = "1ms"\n' for n, m in ("ab", "bc"))
        + '[flows.t]\nfrom = "a"\nto = "c"\ntcp = "newreno"\n'
    )  # fmt: skip
    check(fairlane("compare", "--queues", "red", "--scenario", "x.toml", cwd=tmp_path), r"whose queue.*a, b.*--link")
