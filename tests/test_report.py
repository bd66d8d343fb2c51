"""`fairlane report`: pages that run again what they show, differences against scipy's tests, big results, names with markup, the bundle."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import shlex
import shutil
from pathlib import Path

import jsonschema
import numpy as np
import polars as pl
import pytest
import scipy.stats

import fairlane as fl
from conftest import ROOT
from fairlane.base.document import json_schema
from fairlane.cli import invoke
from fairlane.look.web_charts import Chart, Charts, Line, downsample, inert_json
from fairlane.runs.result import Result
from fairlane.runs.summary import estimated_limits

MOST_BYTES = 3_000_000


def network(queue: str = "red", name: str = "a dumbbell", **settings) -> fl.Network:
    net = fl.Network(**({"duration": "3s", "warmup": "500ms", "sample": "10ms", "name": name} | settings))
    net.dumbbell(pairs=3, access={"rate": "100Mbit/s", "delay": "1ms"}, bottleneck={"rate": "10Mbit/s", "delay": "5ms", "queue": queue})
    net.flow("tcp", "s{i}", "d{i}", tcp="newreno", count=2)
    return net.flow("udp", "s2", "d2", udp={}, source={"cbr": {"rate": "2Mbit/s", "size": "500B", "jitter": 0.5}})


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> tuple[Path, Path]:
    base = tmp_path_factory.mktemp("results")
    for name, queue in (("red", "red"), ("codel", "codel")):
        network(queue).run(seeds="1..4").save(base / name)
    return base / "red", base / "codel"


def saved_from(page: str, file: str) -> str:
    """A file that a page saves from itself."""
    data = re.search(rf'download="{re.escape(file)}" href="data:[^;]+;base64,([^"]+)"', page)
    assert data, file
    return base64.b64decode(data[1]).decode()


def command_in(page: str) -> list[str]:
    return shlex.split(html.unescape(re.search(r'aria-label="Command">([^<]+)</pre>', page)[1]))


def test_the_command_of_a_page_runs_the_same_again(folders, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(folders[0].parent)
    assert invoke(["report", "red", "-o", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text("utf-8")
    command = command_in(page)
    assert command == ["fairlane", "run", "red/scenario.toml", "--seeds", "1..4"]
    capsys.readouterr()
    assert invoke([*command[1:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fingerprints"] == fl.load(folders[0]).fingerprints
    # Elsewhere, from nothing but the page.
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    fl.load(folders[0]).page(elsewhere / "page.html")
    page = (elsewhere / "page.html").read_text("utf-8")
    (elsewhere / "scenario.toml").write_text(saved_from(page, "scenario.toml"), "utf-8")
    monkeypatch.chdir(elsewhere)
    command = command_in(page)
    assert command[:3] == ["fairlane", "run", "scenario.toml"]
    capsys.readouterr()
    assert invoke([*command[1:], "--json"]) == 0
    document = json.loads(capsys.readouterr().out)["fingerprints"]
    assert document == fl.load(folders[0]).fingerprints and all(f in page for f in document)


def test_a_page_says_who_got_what_and_repeats_itself(folders):
    result = fl.load(folders[0])
    page = result.page()
    assert page == fl.load(folders[0]).page()
    words = html.unescape(re.sub(r"<[^>]+>", " ", page.split('id="charts"')[0]))
    goodputs = result.mean("flows").sort("goodput", descending=True)
    assert f"{goodputs['flow'][0]} gets the most" in words and f"{goodputs['flow'][-1]} gets the least" in words
    assert "Queueing delay is largest at bottleneck" in words and "Means of 4 runs" in words
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org", "")


def test_only_the_script_of_the_charts_may_run(folders):
    page = fl.load(folders[0]).page()
    scripts = re.findall(r"<script>(.*?)</script>", page, re.S)
    assert len(scripts) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert f"script-src 'sha256-{digest}'" in policy and "default-src 'none'" in policy
    assert "Copyright (c) 2022 Leon Sorokin" in scripts[0] and "THE SOFTWARE IS PROVIDED" in scripts[0]


def sources(folder: str) -> list[str]:
    return sorted(p.relative_to(ROOT / "web").as_posix() for p in (ROOT / "web" / folder).glob("*.js"))


@pytest.mark.parametrize(
    ("name", "made_of"),
    [("look/charts.js", sources("src")), ("watch/watch.js", [*sources("src/watch"), "src/look.js", "src/text.js"])],
)
def test_the_bundle_is_made_of_the_sources(name, made_of):
    """`npm run build` in web/ writes it; its first line has the hash of what it is made of."""
    hash_ = hashlib.sha256()
    for file in [*made_of, "package-lock.json"]:
        hash_.update((ROOT / "web" / file).read_bytes())
    bundle = (ROOT / "python/fairlane" / name).read_text("utf-8")
    assert hash_.hexdigest() in bundle.splitlines()[0]
    assert "</script" not in bundle.lower() and "<!--" not in bundle


def test_a_page_of_another_kind_that_is_damaged_is_told(tmp_path):
    (tmp_path / "tune.json").write_text('{"schema": "fairlane.tune/1"}')
    (tmp_path / "index.html").write_bytes(b"<p>\xff</p>")
    with pytest.raises(fl.FolderError, match=r"folder of a search.*has no page"):
        fl.report(tmp_path).page(tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_the_page_of_a_reproduction_is_one_file(tmp_path):
    folder = tmp_path / "made"
    (folder / "figures").mkdir(parents=True)
    (folder / "reproduction.json").write_text('{"schema": "fairlane.reproduction/4", "title": "t"}')
    files = {"a b&c.csv": b"x,y\n1,2\n", "figures/f.svg": b"<svg xmlns='http://www.w3.org/2000/svg'/>", "figures/big.png": bytes(2_500_000)}
    for name, data in files.items():
        (folder / name).write_bytes(data)
    (tmp_path / "secret.csv").write_text("not ours")
    names = ["figures/big.png", "a%20b%26c.csv", "figures/f.svg", "gone.csv", "../secret.csv"]
    links = "".join(f'<a class="get" href="{n}" download>{n[:3]}</a>' for n in names)
    (folder / "index.html").write_text(f'<p><a href="#x">here</a>{links}<a href="runs/1">runs</a></p>')
    fl.report(folder).page(tmp_path / "page.html")
    shutil.rmtree(folder)
    page = (tmp_path / "page.html").read_text("utf-8")
    assert len(page) < MOST_BYTES
    assert saved_from(page, "a b&amp;c.csv") == "x,y\n1,2\n" and saved_from(page, "f.svg").startswith("<svg")
    assert set(re.findall(r'href="([^"]{0,8})', page)) == {"#x", "data:tex", "data:ima"}, "nothing outside of the page"
    assert page.endswith("runs</p>") and "secret" not in page and "big" not in page


# --- differences ----------------------------------------------------------------------------------------


def goodputs(result: Result, group: str) -> list[float]:
    frame = result.flows.filter(pl.col("flow").str.starts_with(group))
    return frame.group_by("seed", maintain_order=True).agg(pl.col("goodput").sum())["goodput"].to_list()


def test_differences_are_paired_by_seed(folders):
    a, b = map(fl.load, folders)
    found = fl.report([a, b], labels=["red", "codel"]).document()
    row = next(d for d in found["differences"] if (d["of"], d["metric"]) == ("tcp", "goodput_sum"))
    assert row["paired"] and row["result"] == "codel" and row["against"] == "red"
    expected = scipy.stats.ttest_rel(goodputs(b, "tcp"), goodputs(a, "tcp"))
    assert row["p"] == pytest.approx(expected.pvalue)
    low, high = expected.confidence_interval(0.95)
    assert (row["difference"]["low"], row["difference"]["high"]) == pytest.approx((low, high))


def test_other_seeds_are_not_paired():
    a, b = network("red").run(seeds="1..4"), network("codel").run(seeds="11..15")
    found = fl.report([a, b], labels=["red", "codel"])
    row = next(d for d in found.document()["differences"] if (d["of"], d["metric"]) == ("tcp", "goodput_sum"))
    expected = scipy.stats.ttest_ind(goodputs(b, "tcp"), goodputs(a, "tcp"), equal_var=False)
    assert not row["paired"] and row["p"] == pytest.approx(expected.pvalue)
    assert "unpaired because the seeds differ (Welch)" in found.page()


def test_of_common_seeds_only_those_are_paired():
    a, b = network("red").run(seeds="1..5"), network("codel").run(seeds="3..8")
    row = fl.report([a, b], labels=["red", "codel"]).document()["differences"][0]
    assert row["paired"] and row["difference"]["n"] == 3


def test_sentences_tell_the_largest_differences_first(folders):
    made = fl.report(folders)
    assert len(made.sentences) <= 3 and made.labels == ["red", "codel"]
    shown = [d for d in made.document()["differences"] if d["finding"] in ("more", "less")]
    assert made.sentences[-1].startswith(f"Of {len(made.document()['differences'])} measures, {len(shown) or 'none'} differ")
    if shown:
        largest = max(shown, key=lambda d: abs(d["percent"]["value"] or 0))
        assert re.search(r": codel [^,]+, red [^:]+: .* (higher|lower) \(95 % interval ", made.sentences[0]), largest


def test_the_same_result_twice_is_told_to_be_the_same(folders):
    made = fl.report([folders[0], folders[0]], labels=["one", "other"])
    assert made.sentences == ["The results are identical in all 4 common runs: their fingerprints are equal."]


def test_one_run_each_says_nothing_of_chance():
    made = fl.report([network("red").run(), network("codel").run()], labels=["red", "codel"])
    assert "One run each" in made.sentences[0] and "codel" in made.sentences[1] and "interval" not in made.sentences[1]


def test_what_was_set_differently_is_listed(folders):
    page = fl.report(folders).page()
    rows = dict(re.findall(r'<th scope="row">(links\.[^<]+)</th><td>(.*?)</td></tr>', page))
    assert rows["links.bottleneck.queue, both directions"] == "red</td><td>codel"
    assert not any("max_p" in r or "target" in r for r in rows)  # parameters of another algorithm
    slow = network().replace("topology.dumbbell.access.delay", "3ms").run(seeds="1..4")
    page = fl.report([fl.load(folders[0]), slow], labels=["a", "b"]).page()
    assert re.search(r"6 links, such as links\.s0\.delay, both directions</th><td>1ms</td><td>3ms", page)


def test_documents_are_as_their_schema_says(folders, tmp_path, capsys):
    schema = json_schema("report")
    for given in ([folders[0]], list(folders)):
        document = fl.report(given).document()
        jsonschema.validate(document, schema)
    assert invoke(["report", *map(str, folders), "--json"]) == 0
    jsonschema.validate(json.loads(capsys.readouterr().out), schema)


def test_studies_are_told_apart_at_the_points_they_share(tmp_path):
    base = network(sample=None, duration="1s", warmup="100ms")
    for name, rate in (("one", "10Mbit/s"), ("two", "5Mbit/s")):
        factors = {"topology.dumbbell.bottleneck.queue": ["red", "codel"]}
        sets = {"topology.dumbbell.bottleneck.rate": rate}
        fl.Study(base, factors=factors, set=sets, seeds="1..3", metrics=["network.goodput", "links.bottleneck.loss"]).run(tmp_path / name)
    made = fl.report([tmp_path / "one", tmp_path / "two"])
    document = made.document()
    jsonschema.validate(document, json_schema("report"))
    rows = [d for d in document["differences"] if "goodput" in d["metric"]]
    assert rows and all(d["kind"] == "combination" and d["paired"] and d["finding"] == "less" for d in rows)
    cells = [fl.load_study(tmp_path / n).runs()["network.goodput"].mean() for n in ("one", "two")]
    assert np.mean([d["difference"]["value"] for d in rows]) == pytest.approx(cells[1] - cells[0])
    assert "Comparison of 2 studies" in made.page()


# --- what is known of limits ------------------------------------------------------------------------------


def alone(tcp: dict | None, source: dict | None = None, rate: str = "100Mbit/s") -> dict[str, tuple[str, str]]:
    net = fl.Network(duration="6s", warmup="2s").link("a", "b", rate=rate, delay="20ms", queue={"droptail": {"limit": "100p"}})
    if tcp is None:
        net.flow("x", "a", "b", udp={}, source=source)
    else:
        net.flow("x", "a", "b", tcp=tcp, **({"source": source} if source else {}))
    return estimated_limits(net.run())


def test_a_window_a_loss_or_the_application_holds_a_flow_back():
    # 32 KiB a round trip of 40 ms are 6.6 Mbit/s on a link of 100 Mbit/s: nothing is lost, and no more can be in flight.
    assert alone({"receive_window": "32KiB"})["x"][0] == "receive window"
    assert alone({}, rate="5Mbit/s")["x"][0] == "congestion"
    assert alone({}, {"cbr": {"rate": "1Mbit/s", "size": "1000B"}})["x"][0] == "application"
    assert alone(None, {"cbr": {"rate": "1Mbit/s", "size": "1000B"}})["x"][0] == "application"


# --- big results ------------------------------------------------------------------------------------------


def made_up(flows: int, samples: int) -> Result:
    """A result as large as one likes, of no simulation."""
    rng = np.random.default_rng(1)
    names = [f"web.{i}" for i in range(flows)]
    expanded = {"nodes": ["a", "b"], "links": [], "flows": [{"name": n, "group": "web", "from": "a", "to": "b"} for n in names]}
    scenario = {
        "name": "big",
        "duration": "1000s",
        "warmup": "0s",
        "flows": {"web": {"tcp": {}, "source": {"bulk": {}}}},
        "expanded": expanded,
    }
    table = pl.DataFrame(
        {"seed": 1, "flow": names, "goodput": rng.exponential(1e6, flows), "delay_mean": rng.exponential(0.02, flows), "loss": 0.0}
    )
    links = pl.DataFrame({"seed": 1, "link": ["l"], "queue_mean": [1.0], "utilisation": [0.5], "sojourn_mean": [0.01]})
    drawn = names[:10]
    times = np.repeat(np.arange(samples) * 0.01, len(drawn))
    series = pl.DataFrame({"seed": 1, "flow": drawn * samples, "time": times, "cwnd": rng.exponential(1e4, len(times))})
    queue = rng.exponential(20.0, samples)
    queue[samples // 2 + 7] = 12345.0
    waits = pl.DataFrame({"seed": 1, "link": "l", "time": np.arange(samples) * 0.01, "queue": queue})
    info = [{"seed": 1, "fingerprint": "0" * 16, "warnings": [], "packet_hops": 1, "cpu_s": 1.0}]
    network = pl.DataFrame({"seed": [1], "jain": [0.5]})
    return Result(scenario, info, {"flows": table, "links": links, "network": network, "flow_series": series, "link_series": waits})


def charts_in(page: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="charts-of-page">(.*?)</script>', page, re.S)[1])


def test_big_results_make_small_pages_and_lose_no_peak():
    result = made_up(10_000, 100_000)
    page = result.page()
    assert len(page.encode()) < MOST_BYTES
    found = charts_in(page)
    (line,) = found["charts"]["queue"]["lines"]
    assert max(line["high"]) == 12345 and len(line["y"]) <= 1200
    own = result.link_series["queue"].to_numpy()[: 100_000 // len(line["y"]) + 1]
    assert line["y"][0] == pytest.approx(own[:84].mean(), rel=1e-3)
    assert line["low"][0] == pytest.approx(own[:84].min(), rel=1e-4)
    assert "Each point is the mean over 0.84 s; the band shows minimum and maximum." in page
    assert "10000 flows deliver" in page and "too long for a page" in page
    assert found["charts"]["shares"]["lines"][0]["name"] == "web (10000 flows)"


def test_stretches_keep_every_value_of_a_short_series_and_the_gaps_of_a_long_one():
    times = np.arange(10.0)
    values = np.array([1, 2, np.nan, np.nan, np.nan, np.nan, 3, 9, 4, 4.0])
    found = downsample(times, values, 10)
    assert found.y[:2] == [1, 2] and not found.low and found.span == 0
    found = downsample(times, values, 5)
    assert found.span == 2 and found.x == [0, 2, 4, 6, 8]
    assert found.high[3] == 9 and found.low[3] == 3 and found.y[3] == 6
    assert np.isnan(found.y[1]) and np.isnan(found.low[2])
    assert not downsample(times, values, 5, rate=True).low


def test_what_was_recorded_has_a_page_but_nothing_to_run_again():
    """An import is a result without rates, transports and a simulation."""
    result = made_up(3, 50)
    scenario = {**result.scenario, "imported": {"file": "x.pcap", "format": "pcap"}, "flows": {"web": {"from": "a", "to": "b", "count": 1}}}
    scenario["expanded"] = {**result.scenario["expanded"], "links": [{"name": "l", "from": "a", "to": "b"}]}
    recorded = Result(scenario, result.info, {n: result.table(n) for n in ("flows", "links", "network", "flow_series", "link_series")})
    page = recorded.page()
    assert "it cannot be run again" in page and "fairlane run" not in page and "<svg" not in page
    assert {by for by, _ in estimated_limits(recorded).values()} == {"unknown"}
    document = fl.report([recorded, result], labels=["a", "b"]).document()
    jsonschema.validate(document, json_schema("report"))
    assert document["results"][0]["command"] is None


def test_networks_of_earlier_folders_are_drawn_without_their_places(folders):
    from fairlane.graphs import inline_network

    scenario = fl.load(folders[0]).scenario
    places = {n: {"x": 0.0, "y": 0.0} for n in scenario["expanded"]["nodes"]}
    assert "s0" in str(inline_network({**scenario, "expanded": {**scenario["expanded"], "positions": places}}, "x"))


# --- names ------------------------------------------------------------------------------------------------

EVIL = '</script><script>evil()</script><img src=x onerror=evil()>" onmouseover="evil()'


def test_names_are_text_everywhere(tmp_path):
    net = fl.Network(name=EVIL, description=EVIL, duration="1s", sample="20ms")
    net.link("a<i>", "b&c", name="=HYPERLINK(1)<u>", rate="1Mbit/s", delay="1ms", queue={"droptail": {"limit": "20p"}})
    net.flow("=cmd|x<b>", "a<i>", "b&c", tcp="sack").flow("</script>", "a<i>", "b&c", tcp="sack")
    result = net.run(seeds="1..2")
    made = fl.report([result, network().run(seeds="1..2")], labels=[EVIL, "+1+cmd"])
    for page in (result.page(), made.page()):
        assert page.count("<script>") == 1 and page.count("</script>") == 2
        assert not re.search(r"<(img|u|b|i) ?[^>]*(onerror|onmouseover)", page)
        assert not re.search(r"<[^>]*\son\w+=", re.sub(r"<script.*?</script>", "", page, flags=re.S))
        found = re.search(r'id="charts-of-page">(.*?)</script>', page, re.S)[1]
        assert "<" not in found and ">" not in found
    assert "'=cmd|x<b>" in saved_from(result.page(), "flows.csv")


def test_json_in_a_page_ends_no_element():
    text = inert_json({"a": EVIL, "b": "<!-- \u2028 &amp; -->"})
    assert not set(text) & set("<>&\u2028") and json.loads(text)["a"] == EVIL


def test_charts_say_in_words_what_they_show():
    chart = Chart("x", "Queue", "time (s)", "packets", [Line("l", [0, 1, 2], [1, None, 5])])
    assert chart.alt == "Chart of Queue, packets over time (s). l: from 1 to 5, mean 3."
    assert "role" not in Charts([chart]).figure("x") and chart.alt in Charts([chart]).figure("x")


# --- errors -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none", "-o", "x.html"], ("none does not exist", "fairlane run FILE -o DIR")),
        (["red", "-o", "x.pdf"], ("must end in .html",)),
        (["red", "-o", "nowhere/x.html"], ("does not exist",)),
        (["red", "--margin", "5"], ("cannot read the margin", '"5%"')),
        (["red", "codel", "--label", "a"], ("1 labels for 2 results",)),
        (["red", "codel", "--label", "a", "--label", "a"], ("the same label",)),
        ([".", "-o", "x.html"], ("is not a result folder",)),
    ],
)
def test_mistakes_are_told_and_nothing_is_written(folders, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(folders[0].parent)
    before = sorted(p.name for p in Path().iterdir())
    assert invoke(["report", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("error: ") and all(w in err for w in words)
    assert sorted(p.name for p in Path().iterdir()) == before


def test_a_page_is_not_replaced_unasked(folders, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("mine")
    assert invoke(["report", str(folders[0]), "-o", str(page)]) == 2 and page.read_text() == "mine"
    assert invoke(["report", str(folders[0]), "-o", str(page), "--force"]) == 0 and page.read_text().startswith("<!doctype")
    with pytest.raises(fl.FolderError, match="force=True"):
        fl.load(folders[0]).page(page)


def test_a_run_writes_its_page(tmp_path, capsys):
    (tmp_path / "s.toml").write_text(network(sample=None).to_toml(), "utf-8")
    assert invoke(["run", str(tmp_path / "s.toml"), "--page", str(tmp_path / "p.html"), "-q"]) == 0
    assert '"queue"' in (tmp_path / "p.html").read_text("utf-8")


def test_a_report_shows_itself_in_a_notebook(folders):
    shown = fl.report(folders)._repr_html_()
    assert "red and codel" in shown and "<table>" in shown and "<script" not in shown
