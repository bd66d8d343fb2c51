"""`report = "groups"`: a row for each group of flows, in Python, in documents, folders, studies and on the terminal."""

import json
import math

import jsonschema
import polars as pl
import pytest

import fairlane as fl
from fairlane.base.document import json_schema
from fairlane.base.metrics import jain, metrics, pooled
from fairlane.cli import invoke
from fairlane.runs.document import run_document

SCENARIO = """
duration = "5s"
warmup = "500ms"
[topology.dumbbell]
pairs = 12
bottleneck = { rate = "50Mbit/s" }
[flows.tcp]
from = "s{i}"
to = "d{i}"
count = 12
tcp = "newreno"
spread = "200ms"
[flows.small]
from = "s{i}"
to = "d{i}"
count = 10
start = "1s"
spread = "1s"
tcp = "cubic"
source.file = { size = "30kB" }
[flows.voice]
from = "s0"
to = "d0"
udp = {}
source.cbr = { rate = "64kbit/s" }
"""
GROUPS = [("report", "groups")]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("groups") / "x.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture(scope="module")
def both(file):
    return fl.run(file, "1..3"), fl.run(file, "1..3", sets=GROUPS)


def test_sums_and_fairness_are_those_of_the_flows(both):
    flows, groups = both
    assert flows.fingerprints == groups.fingerprints and flows.warnings == groups.warnings
    assert flows.links.equals(groups.links, null_equal=True) and flows.network.equals(groups.network, null_equal=True)
    table = groups.groups
    assert table["group"].to_list() == ["tcp", "small", "voice"] * 3 and table["flows"].to_list() == [12, 10, 1] * 3
    counts = [m.name for m in metrics() if m.table == "flows" and m.pooled == "sum" and m.unit in ("packets", "count")]
    assert len(counts) > 10 and {"packets_sent", "packets_lost", "retransmits", "timeouts", "marked"} <= set(counts)
    for row in table.iter_rows(named=True):
        name = pl.col("flow")
        own = flows.flows.filter((pl.col("seed") == row["seed"]) & ((name == row["group"]) | name.str.starts_with(row["group"] + ".")))
        assert own.height == row["flows"]
        for metric in counts:
            assert row[metric] == pytest.approx(own[metric].sum(), rel=0, abs=0, nan_ok=True), metric
        assert row["goodput"] == pytest.approx(own["goodput"].sum(), rel=1e-12)
        assert row["goodput_mean"] == pytest.approx(own["goodput"].mean(), rel=1e-12)
        # From the goodput of each flow, before anything is added up: the same to the bit.
        assert row["jain"] == jain(own["goodput"].to_list())
        done = own["completion_time"].drop_nans()
        assert row["completed"] == len(done) and (not len(done) or row["completion_time"] == pytest.approx(done.mean(), rel=1e-12))
        assert math.isnan(row["srtt"])


def test_a_result_has_rows_of_flows_or_of_groups(both):
    flows, groups = both
    assert (flows.rows_of, groups.rows_of) == ("flows", "groups")
    for ask in (
        lambda: groups.flows,
        lambda: groups.flow_series,
        lambda: groups.table("flows"),
        lambda: groups.value("goodput", flow="tcp.0"),
        lambda: groups.summary("flows"),
        lambda: groups.plot("cwnd"),
        lambda: groups.plot("goodput", flow="tcp.0"),
        lambda: groups.plot("delay-cdf"),
    ):
        with pytest.raises(fl.FairlaneError, match=r'report = "groups".*report=flows'):
            ask()
    for ask in (lambda: flows.groups, lambda: flows.value("goodput", group="tcp")):
        with pytest.raises(fl.FairlaneError, match=r"no groups.*report=groups"):
            ask()
    assert repr(groups) == "Result(3 runs, 3 groups, 50 links)"
    assert groups.value("goodput", group="tcp").mean == pytest.approx(sum(flows.value("goodput", flow=f"tcp.{i}").mean for i in range(12)))
    with pytest.raises(fl.UnknownNameError, match="did you mean 'tcp'"):
        groups.value("goodput", group="tpc")
    assert groups.mean()["group"].to_list() == ["tcp", "small", "voice"]
    assert groups.to_pandas()["flows"].tolist() == [12, 10, 1] * 3
    assert len(groups.plot("goodput_mean").axes) == 1
    page = groups.page()
    assert "12" in groups._repr_html_() and "<html" in page and "All numbers</h2>" in page


def test_no_flow_is_made_an_object(file):
    """The run hands over no column of flows: nothing of them can be in tables, documents or folders."""
    from fairlane import _core
    from fairlane.base.scenario import checked

    (run,) = _core.run(checked(file, GROUPS), [1], 1)
    assert run.flows() == {} and len(run.groups()["name"]) == 3 and run.names("flow_series") == []


def test_document(both):
    _, groups = both
    document = json.loads(groups.to_json())
    jsonschema.validate(document, json_schema("run"))
    assert "flows" not in document and [row["name"] for row in document["groups"]] == ["tcp", "small", "voice"]
    assert document["groups"][0]["flows"]["mean"] == 12 and document["units"]["completed"] == "count"
    assert document["groups"][0]["srtt"]["mean"] is None
    assert {m.name for m in pooled()} <= set(document["groups"][0]) and document == json.loads(json.dumps(run_document(groups)))
    assert "tcp.0" not in json.dumps(document["groups"])


def test_folder(both, tmp_path):
    _, groups = both
    groups.save(tmp_path / "r")
    assert (tmp_path / "r" / "groups.parquet").exists() and not (tmp_path / "r" / "flows.parquet").exists()
    assert "tcp.0" not in (tmp_path / "r" / "scenario.json").read_text()
    back = fl.load(tmp_path / "r")
    assert back.rows_of == "groups" and back.groups.equals(groups.groups, null_equal=True) and back.network.equals(groups.network)
    with pytest.raises(fl.FairlaneError, match='report = "groups"'):
        back.flows  # noqa: B018
    assert len(back.scenario["expanded"]["flows"]) == 23
    back.save(tmp_path / "again")
    assert fl.load(tmp_path / "again").groups.equals(groups.groups, null_equal=True)


def test_threads_and_parts(file):
    """One run in parts on two threads has the same groups."""
    whole, parts = (fl.run(file, 1, sets=GROUPS, threads=n) for n in (1, 2))
    assert whole.fingerprints == parts.fingerprints and whole.groups.equals(parts.groups, null_equal=True)


def test_series_are_those_of_links(file):
    result = fl.run(file, 1, sets=[*GROUPS, ("sample", "20ms")])
    assert result.link_series.height > 0
    with pytest.raises(fl.FairlaneError, match=r"no flow_series.*link_series"):
        result.flow_series  # noqa: B018


def test_simulation(file):
    sim = fl.start(file, sets=GROUPS)
    sim.advance("3s")
    assert sim.result().groups["flows"].to_list() == [12, 10, 1]
    with pytest.raises(fl.FairlaneError, match='report = "groups"'):
        fl.start(file, sets=GROUPS, why=True)


def test_command_line(file, capsys):
    assert invoke(["run", str(file), "--set", "report=groups"]) == 0
    out = capsys.readouterr().out
    sheet = out.split("bottleneck")[0]
    assert "tcp" in sheet and "finished" in sheet
    assert "tcp.0" not in sheet
    for option, expected in ((("--why",), "per flow"), (("--flows",), "one row per flow")):
        assert invoke(["run", str(file), "--set", "report=groups", *option]) == 2
        assert expected in capsys.readouterr().err
    assert invoke(["run", str(file), "--set", "report=group"]) == 2
    assert "did you mean" in capsys.readouterr().err
    assert invoke(["compare", "--scenario", str(file), "--set", "report=groups"]) == 2
    assert "report=flows" in capsys.readouterr().err


STUDY = """
scenario = "{file}"
metrics = [{metrics}]
seeds = "1..2"
[set]
report = "{report}"
[factors]
"topology.dumbbell.bottleneck.rate" = ["5Mbit/s", "10Mbit/s"]
"""


def study(file, tmp_path, report, *names):
    path = tmp_path / "study.toml"
    path.write_text(STUDY.format(metrics=", ".join(f'"{n}"' for n in names), file=file, report=report))
    return path


def test_study(file, tmp_path):
    own = study(file, tmp_path, "groups", "groups.tcp.goodput", "groups.tcp.jain", "network.jain")
    result = fl.Study.from_file(own).run(tmp_path / "out")
    table = result.runs()
    assert table.height == 4 and table["groups.tcp.goodput"].null_count() == 0
    by_flow = fl.Study.from_file(study(file, tmp_path, "flows", "flows.tcp.goodput.sum", "flows.tcp.goodput.jain", "network.jain")).run(
        tmp_path / "f"
    )
    for a, b in (("groups.tcp.goodput", "flows.tcp.goodput.sum"), ("groups.tcp.jain", "flows.tcp.goodput.jain")):
        assert table[a].to_list() == pytest.approx(by_flow.runs()[b].to_list(), rel=1e-12)
    assert table["network.jain"].to_list() == by_flow.runs()["network.jain"].to_list()
    assert result.groups()["group"].unique(maintain_order=True).to_list() == ["tcp", "small", "voice"]
    with pytest.raises(fl.FairlaneError, match='report = "groups"'):
        result.flows()


@pytest.mark.parametrize(
    ("report", "metric", "expected"),
    [
        ("groups", "flows.tcp.goodput.sum", "groups.tcp.goodput"),
        ("groups", "flows.tcp.3.goodput", "groups.tcp.goodput_mean"),
        ("groups", "flows.tcp.goodput.jain", "groups.tcp.jain"),
        ("groups", "flows.tcp.srtt", "srtt means nothing of a group"),
        ("groups", "groups.tpc.goodput", "did you mean `tcp`"),
        ("groups", "groups.tcp.goodputs", "did you mean `goodput`"),
        ("flows", "groups.tcp.goodput", "flows.tcp.goodput"),
    ],
)
def test_metrics_that_the_report_does_not_have(file, tmp_path, capsys, report, metric, expected):
    """One error at check time with what to write, and nothing is run or written."""
    assert invoke(["study", str(study(file, tmp_path, report, metric)), "--out", str(tmp_path / "out")]) == 2
    assert expected in capsys.readouterr().err.replace("'", "`")
    assert not (tmp_path / "out").exists()


def test_explained():
    from fairlane.base.reference import explain

    (entry,) = [e for e in explain("goodput") if e.facts.get("table") == "flows"]
    assert entry.facts["of a group"].startswith("the sum")
    assert explain("groups.tcp.completion_time_p95")[0].facts["unit"] == "s"
    for group in ("tcp", "flows", "goodput"):
        (entry,) = explain(f"groups.{group}.jain")
        assert entry.doc.startswith("Jain's fairness index") and entry.facts["of"] == f"the group of flows {group}"


def test_pictures_and_exports_of_links(file, tmp_path, capsys):
    """Plots and exports of links work; those of single flows are one error."""
    folder = str(tmp_path / "r")
    assert invoke(["run", str(file), "--set", "report=groups", "--set", "sample=50ms", "--out", folder, "--quiet"]) == 0
    export = ["export", folder, "mahimahi", "--link", "bottleneck", "-o", str(tmp_path / "q.trace")]
    for asked in (["plot", folder, "queue", "-o", str(tmp_path / "q.svg")], export):
        assert invoke(asked) == 0, capsys.readouterr().err
    capsys.readouterr()
    for asked in (["plot", folder, "cwnd", "-o", str(tmp_path / "w.svg")], ["export", folder, "flent", "-o", str(tmp_path / "w.flent.gz")]):
        assert invoke(asked) == 2 and "report=flows" in capsys.readouterr().err
    assert not list(tmp_path.glob("w.*"))


def test_a_study_of_groups_cannot_say_why(file, tmp_path, capsys):
    path = study(file, tmp_path, "groups", "groups.tcp.goodput")
    assert invoke(["study", str(path), "--out", str(tmp_path / "out"), "--why"]) == 2
    assert "report=flows" in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_a_study_of_groups_is_read_back(file, tmp_path):
    """Its folder alone says that rows are of groups: tables, metrics, pictures and reports of it are as after the run."""
    names = ("groups.tcp.goodput", "groups.small.completion_time_p95", "groups.tcp.jain")
    made = fl.Study.from_file(study(file, tmp_path, "groups", *names)).run(tmp_path / "out")
    back = fl.load_study(tmp_path / "out")
    assert [p.reports for p in back.combinations] == ["groups", "groups"]
    assert back.runs().equals(made.runs()) and back.groups().equals(made.groups(), null_equal=True)
    assert back.summary().equals(made.summary(), null_equal=True) and "<html" in back.page()
    with pytest.raises(fl.FairlaneError, match='report = "groups"'):
        back.flows()
    assert invoke(["plot", str(tmp_path / "out"), "jain", "-o", str(tmp_path / "jain.svg")]) == 0
    assert invoke(["report", str(tmp_path / "out"), str(tmp_path / "out"), "-o", str(tmp_path / "page.html")]) == 0


@pytest.mark.parametrize("name", ["cwnd", "srtt", "delay-cdf", "ellipses", "window"])
def test_pictures_that_need_flows_are_refused_before_the_run(file, tmp_path, capsys, name):
    """Nothing is run for a picture that cannot be drawn afterwards."""
    for asked in (
        ["run", str(file), "--set", "report=groups", "--plot", str(tmp_path / f"{name}.svg"), "--out", str(tmp_path / "r")],
        ["plot", str(file), "--set", "report=groups", name, "-o", str(tmp_path / f"{name}.svg")],
    ):
        assert invoke(asked) == 2
        output = capsys.readouterr()
        assert output.out == "" and 'report = "groups"' in output.err and "report=flows" in output.err and "running" not in output.err
    assert [p for p in tmp_path.iterdir() if p.name != "x.toml"] == []


def test_a_quantity_that_nothing_has_is_refused_before_the_run(file, tmp_path, capsys, monkeypatch):
    from fairlane.runs import result

    ran, run = [], result.run_resolved
    monkeypatch.setattr(result, "run_resolved", lambda *a, **k: ran.append(json.loads(a[0].json())["duration"]) or run(*a, **k))
    assert invoke(["plot", str(file), "goodputt", "-o", str(tmp_path / "x.svg")]) == 2
    assert "did you mean 'goodput'" in capsys.readouterr().err and "5s" not in ran


def test_pictures_of_groups(both, file, tmp_path, capsys):
    """A metric has a row for each group, under its name and with what the row is of."""
    _, groups = both
    groups.save(tmp_path / "r")

    def rows(*asked):
        assert invoke(["plot", str(tmp_path / "r"), *asked, "--json"]) == 0, capsys.readouterr().err
        (panel,) = json.loads(capsys.readouterr().out)["panels"]
        return {d["name"]: d["x"][0] for d in panel["drawn"] if d["role"] != "interval"}

    drawn = rows("goodput")
    assert list(drawn) == ["tcp (sum of 12 flows)", "small (sum of 10 flows)", "voice"]
    assert drawn["tcp (sum of 12 flows)"] == pytest.approx(groups.value("goodput", group="tcp").mean / 1e6, rel=1e-9)
    assert list(rows("completion_time", "--flow", "small")) == ["small (mean of 10 flows)"]
    assert list(rows("jain", "--flow", "tcp", "--flow", "small")) == ["tcp (12 flows)", "small (10 flows)"]
    for asked, expected in (
        (["goodput", "--flow", "tpc"], "did you mean 'tcp'"),
        (["goodput", "--flow", "tcp.0"], "unknown group of flows"),
        (["groups.tcp.goodput"], "did you mean 'goodput'"),
        (["fct"], "report=flows"),
        (["srtt"], "report=flows"),
    ):
        assert invoke(["plot", str(tmp_path / "r"), *asked, "-o", str(tmp_path / "no.svg")]) == 2
        assert expected in capsys.readouterr().err
    assert not (tmp_path / "no.svg").exists()
    with pytest.raises(fl.FairlaneError, match="report=flows"):
        groups.plot("srtt")


def test_reports_of_groups(both, file, tmp_path):
    """Two results of groups are compared with each other; one of flows and one of groups by their common measures."""
    flows, groups = both
    other = fl.run(file, "1..3", sets=[*GROUPS, ("topology.dumbbell.bottleneck.rate", "30Mbit/s")])
    report = fl.report([groups, other], labels=["fast", "slow"])
    found = {(d["of"], d["metric"]): d["means"] for d in report.document()["differences"]}
    for metric, column in (("goodput_sum", "goodput"), ("delay_mean", "delay_mean"), ("loss", "loss")):
        own = [r.value(column, group="tcp").mean for r in (other, groups)]
        assert found["tcp", metric] == pytest.approx(own, rel=1e-12)
    assert ("tcp", "jain") in found and ("", "jain") not in found and ("bottleneck", "utilisation") in found
    assert "Delay and goodput of tcp" in report.page() and "slow" in report._repr_html_()
    mixed = fl.report([flows, groups]).document()
    assert {d["metric"] for d in mixed["differences"]} == {"goodput_sum", "jain", "utilisation", "sojourn_mean"}
    assert all(d["means"][0] == pytest.approx(d["means"][1], rel=1e-12) for d in mixed["differences"])
    assert "Queue of" not in fl.report([flows, groups]).page()


def test_sizes_are_told_without_lists(file):
    from fairlane.base.scenario import checked

    resolved = checked(file, GROUPS)
    expanded = json.loads(resolved.json())["expanded"]
    assert resolved.sizes == tuple(len(expanded[k]) for k in ("nodes", "links", "flows"))


@pytest.mark.parametrize("name", ["flows", "completed", "transactions", "a.b"])
def test_groups_called_like_a_metric(name):
    """Their index of fairness is a metric of theirs, not one number of several groups."""
    from fairlane.study import selector

    found = selector(f"groups.{name}.jain")
    assert (found.name, found.metric, found.aggregate) == (name, "jain", "mean")
    assert selector("groups.*.goodput.jain").aggregate == "jain"


def test_alike_links_are_told_together_in_documents(both, tmp_path):
    """Access links have three rows, against numpy over the rows of each link; few links, and what has a name of its own, as ever."""
    import numpy as np

    flows, groups = both
    document = json.loads(groups.to_json())
    jsonschema.validate(document, json_schema("run"))
    rows = {(row["name"], row.get("aggregate", "")): row for row in document["links"]}
    assert len(rows) == len(document["links"]) == 2 + 4 * 3
    each = {row["name"]: row for row in json.loads(flows.to_json())["links"]}
    assert rows["bottleneck", ""] == each["bottleneck"] and len(each) == groups.links["link"].n_unique() == 50
    for name, ends in (
        ("s{i}", ("s{i}", "r1")),
        ("s{i}.reverse", ("r1", "s{i}")),
        ("d{i}", ("d{i}", "r2")),
        ("d{i}.reverse", ("r2", "d{i}")),
    ):
        own = groups.links.filter(pl.col("link").is_in([name.replace("{i}", str(i)) for i in range(12)]))
        for how, formed in (("mean", np.mean), ("min", np.min), ("max", np.max)):
            row = rows[name, how]
            assert (row["from"], row["to"], row["links"]) == (*ends, 12)
            for metric in ("utilisation", "arrivals", "queue_mean", "sojourn_p95"):
                per_run = [formed(own.filter(pl.col("seed") == seed)[metric].to_numpy()) for seed in groups.seeds]
                assert row[metric]["mean"] == pytest.approx(np.mean(per_run), rel=1e-12, abs=1e-15) and row[metric]["n"] == 3
                assert row[metric]["sd"] == pytest.approx(np.std(per_run, ddof=1), rel=1e-9, abs=1e-15)
    groups.save(tmp_path / "r")
    assert json.loads((tmp_path / "r" / "run.json").read_text()) == document
    assert json.loads(fl.load(tmp_path / "r").to_json())["links"] == document["links"]


def test_few_alike_links_have_a_row_each(file):
    for pairs, count in ((8, 2 + 4 * 8), (9, 2 + 4 * 3)):
        sets = [*GROUPS, ("topology.dumbbell.pairs", pairs), ("flows.tcp.count", 8), ("flows.small.count", 8)]
        result = fl.run(file, 1, sets=sets)
        assert len(json.loads(result.to_json())["links"]) == count and result.links.height == 2 + 4 * pairs


def test_percentiles_of_completion_times_are_numpys(both):
    """Percentiles are those of the inverse distribution function, never a mean of two neighbours, up to the width of a bucket."""
    import numpy as np

    flows, groups = both
    for seed in flows.seeds:
        times = (
            flows.flows.filter((pl.col("seed") == seed) & pl.col("flow").str.starts_with("small."))["completion_time"]
            .drop_nans()
            .to_numpy()
        )
        (row,) = groups.groups.filter((pl.col("seed") == seed) & (pl.col("group") == "small")).iter_rows(named=True)
        assert len(times) == row["completed"] > 2
        for q in (0.5, 0.95, 0.99):
            assert row[f"completion_time_p{q * 100:.0f}"] == pytest.approx(np.quantile(times, q, method="inverted_cdf"), rel=1 / 63)


def test_questions_of_groups(both, tmp_path, capsys):
    pytest.importorskip("duckdb")
    folder = str(both[1].save(tmp_path / "r"))
    assert invoke(["query", folder, 'select "group", flows from groups where seed = 1', "--csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["tcp,12.0", "small,10.0", "voice,1.0"]
    for question, expected in (
        ("goodput", 'select "group", goodput from groups'),
        ("limits", "report=flows and --why"),
        ("filled", "and --why"),
    ):
        assert invoke(["query", folder, question]) == 2
        assert expected in capsys.readouterr().err


def test_the_page_has_a_mark_for_each_group(both):
    from fairlane.runs.charts import each_group

    flows, groups = both
    chart = each_group(groups)
    assert each_group(flows) is None and [line.name for line in chart.lines] == ["tcp", "small", "voice"]
    # In the units that the axes are labelled with: ms and Mbit/s.
    for line in chart.lines:
        assert line.x == [pytest.approx(1e3 * groups.value("delay_mean", group=line.name).mean)]
        assert line.y == [pytest.approx(1e-6 * groups.value("goodput_mean", group=line.name).mean)]
    assert chart.title in groups.page() and "Time series" in groups.page()
