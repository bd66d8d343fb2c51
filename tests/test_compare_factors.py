"""Comparing congestion controls and any other values: levels, combinations, paired differences, sentences, the command, errors."""

from __future__ import annotations

import json
import re
import shlex
from types import SimpleNamespace

import jsonschema
import numpy as np
import pytest
from scipy.stats import ttest_1samp, ttest_rel
from statsmodels.stats.multitest import multipletests

import fairlane as fl
from conftest import DUMBBELL, fairlane
from fairlane.base.document import json_schema
from fairlane.base.scenario import resolve
from fairlane.comparison import default_network
from fairlane.comparison.data import Competing
from fairlane.comparison.differences import differences, sentences
from test_cli_errors import check

SEEDS = "1..4"


def network(**more):
    return default_network(flows=3, udp="2Mbit/s", duration="5s", warmup="1s", **more)


@pytest.fixture(scope="module")
def controls():
    return fl.compare(network(), tcp="cubic,bbr,reno", seeds=SEEDS)


@pytest.fixture(scope="module")
def both():
    """Every combination of two queues and two rates."""
    return fl.compare(network(), queues="red,fq_codel", vary={"links.bottleneck.rate": ["4Mbit/s", "8Mbit/s"]}, seeds=SEEDS)


def goodputs(c, label):
    """The sum over the flows of a group in each run, from the tables of the runs."""
    flows = c.setting(label).result.flows
    return [sum(flows.filter(seed=s, flow=f"tcp.{i}")["goodput"][0] for i in range(3)) for s in c.seeds]


def test_comparing_a_congestion_control_is_running_with_it(controls):
    for level in ("cubic", "bbr", "reno"):
        alone = network().replace("flows.tcp.tcp.cc", level).run(seeds=SEEDS)
        assert controls.setting(level).result.fingerprints == alone.fingerprints
    assert [q.levels for q in controls.settings] == [{"tcp": x} for x in ("cubic", "bbr", "reno")]


def test_other_parameters_of_tcp_stay_and_a_preset_is_one_of_them():
    net = network(tcp={"cc": "sack", "preset": "linux", "mss": "1000B"})
    c = fl.compare(net, tcp=["cubic{beta=0.8}", "reno:ns2", fl.cc.Vegas(alpha=2)], seed=1)
    found = [q.result.scenario["flows"]["tcp"]["tcp"] for q in c.settings]
    assert [t["mss"] for t in found] == ["1000B"] * 3
    assert [t["preset"] for t in found] == ["linux", "ns2", "linux"]
    assert found[0]["cc"]["cubic"]["beta"] == 0.8 and found[2]["cc"]["vegas"]["alpha"] == 2
    assert [q.label for q in c.settings] == ["cubic{beta=0.8}", "reno:ns2", "vegas{alpha=2}"]


def test_differences_are_paired_by_seed_and_corrected_together(controls):
    frame = controls.differences()
    assert frame.height == 3 * 7  # pairs of levels; goodput, delay and loss of two groups, and fairness
    for row in frame.filter(group="tcp", metric="goodput_sum").iter_rows(named=True):
        a, b = goodputs(controls, row["level"]), goodputs(controls, row["against"])
        assert row["difference"] == pytest.approx(np.mean(np.subtract(a, b)))
        assert row["percent"] == pytest.approx(100 * (np.mean(a) / np.mean(b) - 1))
        test = ttest_rel(a, b)
        assert row["p"] == pytest.approx(test.pvalue) and row["n"] == 4
        assert (row["low"], row["high"]) == pytest.approx(tuple(test.confidence_interval(0.95)))
        assert row["percent_low"] < row["percent"] < row["percent_high"]
    known = [p for p in frame["p"] if p is not None]
    corrected = multipletests(known, method="holm")[1]
    assert [p for p in frame["p_holm"] if p is not None] == pytest.approx(list(corrected))
    for row in frame.iter_rows(named=True):
        shown = row["p_holm"] is not None and row["p_holm"] < 0.05
        assert (row["finding"] in ("more", "less")) == shown
        assert not shown or (row["finding"] == "more") == (row["difference"] > 0)


def test_with_two_factors_a_difference_is_that_of_means_over_the_other(both):
    assert [f.name for f in both.factors] == ["queue", "rate"]
    assert [q.label for q in both.settings] == ["red, 4Mbit/s", "red, 8Mbit/s", "fq_codel, 4Mbit/s", "fq_codel, 8Mbit/s"]
    (row,) = both.differences().filter(factor="rate", group="tcp", metric="goodput_sum").iter_rows(named=True)
    of = {q: np.array(goodputs(both, q)) for q in (s.label for s in both.settings)}
    fast, slow = (np.mean([of[f"{q}, {rate}"] for q in ("red", "fq_codel")], axis=0) for rate in ("8Mbit/s", "4Mbit/s"))
    assert (row["level"], row["against"]) == ("8Mbit/s", "4Mbit/s")
    assert row["difference"] == pytest.approx(np.mean(fast - slow)) and row["p"] == pytest.approx(ttest_rel(fast, slow).pvalue)
    assert row["finding"] == "more"
    assert any(s.startswith("Goodput of tcp, by rate (mean over queue): 8Mbit/s ") for s in both.sentences())


def made(values, margin="5%", **factors):
    """A comparison with these values, run by run: metric -> setting -> values."""
    named = factors or {"tcp": list(next(iter(values.values())))}
    labels = list(next(iter(values.values())))
    settings = [
        SimpleNamespace(
            levels=dict(zip(named, label.split("/"), strict=True)),
            per_run=lambda _g, m, label=label: values.get(m, dict.fromkeys(labels, [None] * 5))[label],
            result=SimpleNamespace(flows={"flow": SimpleNamespace(n_unique=lambda: 2)}),
        )
        for label in labels
    ]
    levels = [SimpleNamespace(name=name, levels=[SimpleNamespace(label=x) for x in dict.fromkeys(own)]) for name, own in named.items()]
    c = SimpleNamespace(
        settings=settings,
        factors=levels,
        margin=margin,
        seeds=range(5),
        groups=lambda: ["web"],
        metrics=[],
        competing=[Competing(("web",))],
    )
    return dict(zip(("goodput", "delay", "loss", "fairness"), sentences(c, differences(c)), strict=False))


def test_a_sentence_says_who_has_more_and_how_sure():
    """Against numbers by hand: means 112 and 100, and the interval of Fieller by its definition."""
    a, b = [112.0, 111.0, 113.0, 112.5, 111.5], [100.0, 100.5, 99.0, 101.0, 99.5]
    sentences = made({"goodput_sum": {"cubic": a, "reno": b}, "delay_mean": {"cubic": b, "reno": [x / 3 for x in b]}})
    found = re.fullmatch(
        r"Goodput of web: cubic 112 bit/s, reno 100 bit/s: 12 % higher \(95 % interval (\d+) to (\d+) %\)\.", sentences["goodput"]
    )
    assert found, sentences
    for r in (1 + int(found[1]) / 100 - 0.006, 1 + int(found[2]) / 100 + 0.006):  # outside, the ratio is refused
        assert ttest_1samp(np.subtract(a, np.multiply(r, b)), 0).pvalue < 0.05
    assert sentences["delay"] == "Delay of web: reno 33.3 s, cubic 100 s: 67 % lower (95 % interval 67 to 67 %)."
    assert sentences["loss"] == "Loss of web: fewer than two levels have a value."


def test_what_was_not_shown_is_not_called_equal():
    noisy, base = [10.0, 14.0, 9.0, 13.0, 11.0], [12.0, 10.0, 11.0, 11.0, 10.5]
    near = [12.1, 10.0, 11.1, 10.9, 10.5]
    assert made({"goodput_sum": {"a": noisy, "b": base}})["goodput"].startswith(
        "Goodput of web: no significant difference (a 11.4 bit/s, b 10.9 bit/s; p = "
    )
    found = made({"goodput_sum": {"a": near, "b": base}})["goodput"]
    assert re.fullmatch(r"Goodput of web: a 10.9 bit/s, b 10.9 bit/s: equivalent within 5 % \(TOST p [=<] [\d.]+\)\.", found)
    assert made({"loss": {"a": [0.0] * 5, "b": [0.0] * 5}})["loss"].startswith("Loss of web: a 0 %, b 0 %: ")
    three = made({"goodput_sum": {"a": noisy, "b": base, "c": [1.0, 1.1, 0.9, 1.05, 1.0]}})["goodput"]
    assert re.match(
        r"Goodput of web: a 11.4 bit/s; [\d.]+ times as high as c \(1.01 bit/s; 95 % interval [\d.]+ to [\d.]+\); "
        r"no significant difference from b \(10.9 bit/s\) \(p = ",
        three,
    )


def test_many_comparisons_ask_for_more():
    """A pair that alone would pass at 5 % is not told as a difference among many: p = 0.02 times 28 pairs."""
    rng = np.random.default_rng(3)
    base = rng.normal(100, 5, 5)
    shift = np.array([1.0, 2.0, 3.0, 1.5, 3.5]) * 1.2
    assert 0.001 < ttest_rel(base + shift, base).pvalue < 0.05
    pair = {"goodput_sum": {"a": list(base + shift), "b": list(base)}}
    others = {f"q{i}": list(rng.normal(100, 5, 5)) for i in range(6)}
    alone = made(pair, margin="1%")["goodput"]
    among = made({"goodput_sum": pair["goodput_sum"] | others}, margin="1%")["goodput"]
    assert "higher" in alone and not re.search(r"higher than b \(|^Goodput of web: a [^;]*; .*than b", among)


def test_a_mean_over_levels_that_hides_a_reversal_says_so():
    up, down = [10.0, 10.1, 9.9, 10.0, 10.05], [8.0, 8.1, 7.9, 8.0, 8.02]
    values = {"red/slow": [20.0, 20.1, 19.9, 20.0, 20.05], "red/fast": down, "pie/slow": up, "pie/fast": up}
    found = made({"goodput_sum": values}, queue=["red", "pie"], rate=["slow", "fast"])
    assert found["goodput"].startswith("Goodput of web, by queue (mean over rate): red 14 bit/s, pie 10 bit/s: 40 % higher (95 % interval ")
    assert found["goodput"].endswith(", but the opposite with fast.")


def test_one_seed_says_nothing_of_chance():
    c = fl.compare(network(), tcp="cubic,reno", seed=1)
    assert c.sentences() == ["One run each: the random variation is unknown. Use --seeds 1..10 for confidence intervals."]
    assert set(c.differences()["finding"]) == {"inconclusive"}
    assert "two one-sided tests" not in c.page()


def test_a_warning_that_all_settings_share_is_told_once():
    sizes = {"flows.udp.source.cbr.size": "500B,1000B"}
    c = fl.compare(network(), tcp="cubic,reno,sack", vary=sizes, seed=1, sets={"duration": "1500ms"})
    own = [{str(w) for w in q.warnings} for q in c.settings]
    shared = set.intersection(*own)
    assert shared and len(c.warnings) == len(set.union(*own))
    assert {w.removeprefix("in all settings: ") for w in map(str, c.warnings) if w.startswith("in all settings: ")} == shared


def test_the_command_of_the_document_gives_the_document(tmp_path):
    args = (
        "compare",
        "--tcp",
        "cubic,reno:linux",
        "--vary",
        "flows.udp.source.cbr.size=500B, 1000B",
        "--seeds",
        "1..2",
        "--duration",
        "3s",
    )
    done = fairlane(*args, "--flows", "2", "--json", "--page", "p.html", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "wrote p.html\n")
    doc = json.loads(done.stdout)
    jsonschema.validate(doc, json_schema("compare"))
    assert [f["levels"] for f in doc["factors"]] == [["cubic", "reno:linux"], ["500B", "1000B"]]
    assert [s["name"] for s in doc["settings"]] == [f"{a}, {b}" for a in ("cubic", "reno:linux") for b in ("500B", "1000B")]
    words = shlex.split(doc["command"])
    assert words[0] == "fairlane" and "--page" not in words
    again = fairlane(*words[1:], "--json", cwd=tmp_path)
    assert json.loads(again.stdout) == doc
    page = (tmp_path / "p.html").read_text("utf-8")
    for text in (doc["command"].replace("'", "&#39;"), *(s.replace("'", "&#39;").replace("<", "&lt;") for s in doc["sentences"])):
        assert all(part in page for part in text.split(": ", 1))
    assert 'id="topology-' in page or "topology" in page


def test_any_path_of_a_file_can_be_varied(tmp_path):
    (tmp_path / "x.toml").write_text(DUMBBELL)
    args = ("--scenario", "x.toml", "--vary", "links.bottleneck.queue=droptail{limit=5p},red", "--seeds", "1..2", "--json")
    doc = json.loads(fairlane("compare", *args, cwd=tmp_path).stdout)
    assert doc["settings"][0]["queue"] == {"droptail": {"limit": "5p", "admit": "fits"}}
    assert doc["factors"][0]["name"] == "queue"
    as_queues = json.loads(
        fairlane("compare", "--scenario", "x.toml", "--queues", "droptail{limit=5p},red", *args[4:], cwd=tmp_path).stdout
    )
    assert [s["fingerprints"] for s in doc["settings"]] == [s["fingerprints"] for s in as_queues["settings"]]


def test_all_leaves_out_what_needs_parameters_in_every_combination():
    c = fl.compare(network(), queues="all", tcp="cubic,reno", seed=1, sets={"duration": "1500ms"})
    queues = [level.label for level in c.factors[0].levels]
    assert len(queues) > 30 and [q.levels["queue"] for q in c.settings][::2] == queues


BAD = {
    "unknown control": (["--tcp", "cubic,cubbic"], r"unknown congestion control 'cubbic': did you mean 'cubic'"),
    "unknown parameter": (["--tcp", "cubic{betta=1}"], r"tcp 'cubic\{betta=1\}': unknown key `betta`.*`beta`"),
    "control twice": (["--tcp", "cubic,Cubic"], r"'Cubic' is given twice, first as 'cubic'"),
    "one scenario twice": (["--tcp", "newreno,newreno:modern"], r"'newreno' and 'newreno:modern' give the same scenario"),
    "level twice": (["--vary", "links.bottleneck.rate=5Mbit/s,5000kbit/s"], r"'5Mbit/s' and '5000kbit/s' give the same scenario"),
    "no TCP": (["--flows", "0", "--tcp", "cubic"], r"this scenario has no TCP flow"),
    "unknown link": (["--vary", "links.bottelneck.rate=1Mbit/s,2Mbit/s"], r"unknown link 'bottelneck': did you mean 'bottleneck'"),
    "unknown flows": (["--vary", "flows.tpc.count=1,2"], r"unknown group of flows 'tpc': did you mean 'tcp'"),
    "unknown key": (["--vary", "links.bottleneck.rat=1Mbit/s,2Mbit/s"], r"--> --vary links.bottleneck.rat=1Mbit/s.*\^\^\^.*`rate`"),
    "no unit": (["--vary", "links.bottleneck.rate=5Mbit/s,10"], r"10 has no unit.*\^\^.*with rate 10"),
    "empty level": (["--vary", "links.bottleneck.rate=5Mbit/s,,6Mbit/s"], r"a level is empty.*5Mbit/s,,6Mbit/s\n \| {31}\^"),
    "unquoted table": (["--vary", "flows.tcp.tcp={cc=cubic},{cc=cubik}"], r"--> --vary flows.tcp.tcp=.*did you mean `cubic`"),
    "bad table": (["--vary", "flows.tcp.tcp={cc=cubic},{cc}"], r"cannot read a value '\{cc\}': expected '='"),
    "open bracket": (["--vary", "flows.tcp.tcp={cc=cubic,{cc=reno}"], r"\} is missing"),
    "no levels": (["--vary", "links.bottleneck.rate="], r"path=a,b,c"),
    "no path": (["--vary", "a..b=1,2"], r"cannot read the path 'a..b'"),
    "the seed": (["--vary", "seed=1,2"], r"seed cannot be varied.*--seeds"),
    "path twice": (["--vary", "links.bottleneck.rate=1Mbit/s", "--vary", "links.bottleneck.rate=2Mbit/s"], r"varied twice"),
    "what queues set": (["--queues", "red", "--vary", "links.bottleneck.queue=pie,codel"], r"links.bottleneck.queue is varied twice"),
    "inside of it": (["--queues", "red", "--vary", "links.bottleneck.queue.red.min=5p,9p"], r"one contains the other"),
    "what tcp sets": (["--tcp", "reno", "--vary", "flows.tcp.tcp=cubic,bbr"], r"one contains the other"),
    "set and varied": (["--set", "links.bottleneck.rate=5Mbit/s", "--vary", "links.bottleneck.rate=1Mbit/s"], r"both set and varied"),
    "duration": (["--duration", "6s", "--vary", "duration=5s,6s"], r"duration is both set and varied"),
    "limit without queues": (["--tcp", "cubic,reno", "--limit", "9p"], r"a limit \(9p\) applies to compared queues"),
    "margin": (["--tcp", "cubic,reno", "--margin", "0"], r"cannot read the margin '0'"),
    "too many": (
        ["--vary", "flows.udp.source.cbr.jitter=" + ",".join(str(i / 2000) for i in range(1001))],
        r"1001 settings, more than 1000",
    ),
    "another's fault": (["--vary", "flows.tcp.count=2,9"], r"unknown node `s6`.*with count 9"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_levels(name, tmp_path):
    args, expected = BAD[name]
    check(fairlane("compare", *args, cwd=tmp_path), expected)
    assert list(tmp_path.iterdir()) == []


def test_python_says_nothing_to_compare_and_takes_lists():
    with pytest.raises(fl.FairlaneError, match="nothing to compare"):
        fl.compare(network())
    with pytest.raises(fl.FairlaneError, match="at least one level"):
        fl.compare(network(), vary={"duration": []})
    c = fl.compare(network(), queues=[fl.queues.Red(min="5p", max="15p"), "codel"], vary=[("flows.tcp.count", [2, 3])], seed=1)
    assert [q.label for q in c.settings] == ["red{min=5p, max=15p}, 2", "red{min=5p, max=15p}, 3", "codel, 2", "codel, 3"]
    assert [q.flows("tcp")["flow"].n_unique() for q in c.settings] == [2, 3, 2, 3]
    assert c.command.startswith("fairlane.compare(network, queues=[Red(min='5p', max='15p'), 'codel']")


def test_a_flow_is_compared_as_a_whole():
    """A word is the transport and its control; the other parameters of the same transport stay, and those of the flow."""
    net = network(tcp={"cc": "sack", "preset": "linux", "mss": "1000B"})
    c = fl.compare(net, vary={"flows.tcp": "tcp:cubic,tcp:reno:ns2"}, seed=1)
    found = [q.result.scenario["flows"]["tcp"] for q in c.settings]
    assert [q.label for q in c.settings] == ["tcp:cubic", "tcp:reno:ns2"]
    assert [f["tcp"]["mss"] for f in found] == ["1000B"] * 2
    assert [f["tcp"]["preset"] for f in found] == ["linux", "ns2"]
    assert [f["count"] for f in found] == [3, 3]
    same = network(tcp={"cc": "cubic", "preset": "linux", "mss": "1000B"}).run(seeds=1)
    assert c.setting("tcp:cubic").result.fingerprints == same.fingerprints


@pytest.mark.parametrize(
    ("word", "message", "width"),
    [
        ("quin:cubic", "unknown transport 'quin': did you mean 'quinn'?", 10),
        ("quinn:cubik", "unknown congestion control of quinn 'cubik': did you mean 'cubic'?", 11),
        ("tcp:cubik", "unknown congestion control 'cubik': did you mean 'cubic'?", 9),
        ("str0m:gcc", "str0m has one congestion control: write str0m alone", 9),
        ("noq:", "'noq:' names no congestion control", 4),
    ],
)
def test_a_wrong_word_is_one_error_with_a_caret(word, message, width):
    with pytest.raises(fl.FairlaneError) as e:
        fl.compare(network(), vary={"flows.tcp": f"tcp:cubic,{word}"}, seed=1)
    text = str(e.value)
    assert text.startswith(message)
    caret = next(line for line in text.splitlines() if "^" in line)
    assert caret.strip(" |") == "^" * width
    assert "write TRANSPORT:CONTROL, such as quinn:cubic" in text


def test_another_transport_replaces_that_of_the_flow():
    """Another algorithm does so, too; two transports of one layer are an error (test_codes)."""
    flow = resolve(network(tcp="sack"), [("flows.tcp.udp", {}), ("flows.tcp.source", {"cbr": {}})])["flows"]["tcp"]
    assert flow.get("tcp") is None and flow["udp"] is not None
