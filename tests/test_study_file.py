"""Study files: what they say, ranges, keys of runs, and every mistake with its place."""

from __future__ import annotations

import itertools
import json
import re
import tomllib
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairlane as fl
from conftest import DUMBBELL, ROOT, cases
from fairlane.base.document import json_schema
from fairlane.base.toml import value
from fairlane.study import Study, read_study
from fairlane.study.plan import make_plan
from fairlane.study.ranges import amount

STUDY = """\
scenario = "dumbbell.toml"
seeds = "1..3"
metrics = ["links.bottleneck.utilisation", "flows.tcp.goodput.sum", "network.jain"]

[factors]
"links.bottleneck.queue" = ["droptail", "red{min=5p}"]
"links.bottleneck.rate" = ["1Mbit/s", "10Mbit/s"]
"""


def plan_of(folder: Path, text: str):
    (folder / "dumbbell.toml").write_text(DUMBBELL)
    (folder / "study.toml").write_text(text)
    return make_plan(read_study(folder / "study.toml"))


def factors_of(folder: Path, text: str):
    (folder / "dumbbell.toml").write_text(DUMBBELL)
    (folder / "study.toml").write_text(STUDY.split("[factors]")[0] + text)
    return read_study(folder / "study.toml").factors


# --- what a file says ---------------------------------------------------------------------------------


def test_combinations_are_the_product_and_the_last_factor_varies_fastest(tmp_path):
    plan = plan_of(tmp_path, STUDY)
    wanted = [dict(zip(("queue", "rate"), c, strict=True)) for c in itertools.product(["droptail", "red{min=5p}"], [1e6, 1e7])]
    assert [dict(p.labels) for p in plan.combinations] == wanted
    assert [p.index for p in plan.combinations] == [0, 1, 2, 3]
    assert [(p.index, t.seed) for p, t in plan.tasks()] == [(i, s) for i in range(4) for s in (1, 2, 3)]
    resolved = [json.loads(p.resolved)["links"]["bottleneck"] for p in plan.combinations]
    assert [(next(iter(x["queue"])), x["rate"]) for x in resolved] == [
        ("droptail", "1Mbit/s"), ("droptail", "10Mbit/s"), ("red", "1Mbit/s"), ("red", "10Mbit/s"),
    ]  # fmt: skip


def test_all_forms_of_factors(tmp_path):
    found = factors_of(
        tmp_path,
        """
[set]
links.bottleneck.delay = "5ms"
[factors]
"links.bottleneck.queue" = ["droptail", "red{min=5p}", { codel = { target = "10ms", ecn = true } }, "red:ns2"]
links.bottleneck.rate = { from = "1Mbit/s", to = "100Mbit/s", count = 5, scale = "log" }
buffer = { path = "links.bottleneck.reverse.queue.droptail.limit", values = ["10p", "20p"] }
start = { path = "flows.udp.start", values = { early = "0s", late = "2s" } }
load.levels.light = { "flows.tcp.count" = 1 }
load.levels.heavy = { flows.tcp.count = 2, "flows.udp.source.cbr" = { rate = "2Mbit/s", jitter = 0.1 } }
duration = ["4s", "5s"]
"flows.tcp.tcp" = ["newreno", "cubic"]
flows.udp.source.cbr.size = { from = "500B", to = "1500B", step = "500B" }
[[zip]]
"topology.dumbbell.access.delay" = ["1ms", "2ms"]
warmup = ["500ms", "1s"]
""",
    )
    values = {f.name: (f.unit, [level.label for level in f.levels]) for f in found}
    assert values == {
        "queue": ("", ["droptail", "red{min=5p}", "codel{target=10ms, ecn=true}", "red:ns2"]),
        "rate": ("bit/s", [1e6, 3.16e6, 1e7, 3.16e7, 1e8]),
        "buffer": ("packets", [10.0, 20.0]),
        "start": ("", ["early", "late"]),
        "load": ("", ["light", "heavy"]),
        "duration": ("s", [4.0, 5.0]),
        "tcp": ("", ["newreno", "cubic"]),
        "size": ("byte", [500.0, 1000.0, 1500.0]),
        "delay": ("s", [0.001, 0.002]),
    }
    by_name = {f.name: f for f in found}
    assert [level.text for level in by_name["rate"].levels] == ["1Mbit/s", "3.16Mbit/s", "10Mbit/s", "31.6Mbit/s", "100Mbit/s"]
    assert by_name["queue"].levels[1].sets == (("links.bottleneck.queue", {"red": {"min": "5p"}}),)
    heavy = dict(by_name["load"].levels[1].sets)
    assert heavy == {"flows.tcp.count": 2, "flows.udp.source.cbr.rate": "2Mbit/s", "flows.udp.source.cbr.jitter": 0.1}
    assert by_name["delay"].levels[1].sets == (("topology.dumbbell.access.delay", "2ms"), ("warmup", "1s"))
    assert by_name["delay"].levels[1].text == "2ms, 1s"


def test_long_levels_are_cut_unless_that_makes_them_equal(tmp_path):
    tables = [
        {"red": {"min": "5p", "max": "15p", "limit": "100p", "w_q": 0.002, "max_p": 0.1, "gentle": True, "wait": w}} for w in (True, False)
    ]
    text = f"[factors]\nlinks.bottleneck.queue = [{', '.join(value(t) for t in tables)}, 'sfq']\n"
    long = [level.label for level in factors_of(tmp_path, text)[0].levels]
    assert long[2] == "sfq" and all(x.startswith("red{min=5p, max=15p, ") for x in long[:2]) and long[0].endswith("wait=true}")
    (factor,) = factors_of(tmp_path, text.replace("wait = true", "wait = false", 1).replace("0.1", "0.3", 1))
    (short,) = (level.label for level in factor.levels if "0.3" in level.label)
    assert len(short) <= 60


def test_columns_are_the_shortest_ends_that_differ(tmp_path):
    text = """[factors]
"links.bottleneck.rate" = ["1Mbit/s", "2Mbit/s"]
"flows.udp.source.cbr.rate" = ["1Mbit/s", "2Mbit/s"]
"links.bottleneck.delay" = ["1ms", "2ms"]
"""
    assert [f.name for f in factors_of(tmp_path, text)] == ["bottleneck.rate", "cbr.rate", "delay"]


def test_a_seed_list_a_precision_and_plots(tmp_path):
    (tmp_path / "dumbbell.toml").write_text(DUMBBELL)
    head = STUDY.replace('seeds = "1..3"', 'seeds = [4, 2]\nname = "which"\nkeep = "selected"\nconfidence = 0.9\ndescription = "d"')
    head = head.replace("[factors]", 'precision = { relative = "2%", metrics = ["utilisation"], minimum = 3, maximum = 9 }\n[factors]')
    plots = '[[plots]]\nkind = "line"\nx = "rate"\ny = "utilisation"\nby = "queue"\nlog = ["x"]\n[[plots]]\nkind = "ecdf"\ny = "jain"\n'
    (tmp_path / "s.toml").write_text(head + plots)
    spec = read_study(tmp_path / "s.toml")
    assert (spec.name, spec.seeds, spec.keep, spec.confidence, spec.description) == ("which", (4, 2), "selected", 0.9, "d")
    p = spec.precision
    assert (p.relative, p.metrics, p.minimum, p.maximum) == (0.02, ("links.bottleneck.utilisation",), 3, 9)
    line, ecdf = spec.plots
    assert (line.x, line.y, line.by, line.log) == ("rate", "links.bottleneck.utilisation", "queue", ("x",))
    assert (ecdf.kind, ecdf.y, ecdf.name) == ("ecdf", "network.jain", "ecdf-network.jain")


def test_the_same_study_as_json_and_with_the_scenario_inside(tmp_path):
    plan = plan_of(tmp_path, STUDY)
    tree = tomllib.loads(STUDY)
    (tmp_path / "study.json").write_text(json.dumps(tree))
    as_json = make_plan(read_study(tmp_path / "study.json"))
    (tmp_path / "inline.json").write_text(json.dumps({**tree, "scenario": tomllib.loads(DUMBBELL)}))
    inline = make_plan(read_study(tmp_path / "inline.json"))
    keys = [t.key for _, t in plan.tasks()]
    assert keys == [t.key for _, t in as_json.tasks()] == [t.key for _, t in inline.tasks()]


def test_the_command_line_has_the_last_word(tmp_path):
    text = STUDY.replace("[factors]", '[set]\nduration = "3s"\nwarmup = "0s"\n[factors]')
    plan_of(tmp_path, text)
    spec = read_study(tmp_path / "study.toml", sets=[("duration", "4s"), ("links.bottleneck.delay", "7ms")], seeds="5,6")
    assert spec.sets == (("warmup", "0s"), ("duration", "4s"), ("links.bottleneck.delay", "7ms"))
    assert spec.seeds == (5, 6)
    with pytest.raises(fl.ScenarioError, match=r"--set links.bottleneck.delay=7m") as e:
        make_plan(read_study(tmp_path / "study.toml", sets=[("links.bottleneck.delay", "7m")]))
    assert str(e.value).count("error:") == 1
    with pytest.raises(fl.FairlaneError, match=r"set twice: by --set links.bottleneck.rate, and by the factor `rate`"):
        read_study(tmp_path / "study.toml", sets=[("links.bottleneck.rate", "7Mbit/s")])
    with pytest.raises(fl.FairlaneError, match="--seeds"):
        read_study(tmp_path / "study.toml", sets=[("seed", "7")])


def test_files_are_relative_to_the_study_file(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "up.trace").write_text("1\n2\n3\n")
    (tmp_path / "sub" / "q.py").write_text("x = 1\n")
    text = STUDY.replace("seeds", 'plugins = ["q.py"]\nseeds').replace(
        '"links.bottleneck.rate" = ["1Mbit/s", "10Mbit/s"]', '"links.bottleneck.trace" = ["up.trace"]'
    )
    base = DUMBBELL.replace('rate = "5Mbit/s", ', "")
    (tmp_path / "sub" / "dumbbell.toml").write_text(base)
    (tmp_path / "sub" / "study.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    spec = read_study("sub/study.toml")
    assert spec.factors[1].levels[0].label == "up.trace"
    combinations = make_plan(spec).combinations
    assert len(combinations) == 2 and "up.trace" not in combinations[0].resolved
    assert spec.plugins == (str(Path("sub/q.py")),)
    # So are those of a base scenario inside.
    tree = tomllib.loads(text.split("[factors]")[0])
    inside = {**tree, "scenario": {**tomllib.loads(base), "links": {"bottleneck": {"trace": "up.trace"}}}}
    (tmp_path / "sub" / "inside.json").write_text(json.dumps(inside))
    (combination,) = make_plan(read_study("sub/inside.json")).combinations
    assert combination.essence in {p.essence for p in combinations}


# --- ranges -------------------------------------------------------------------------------------------


def spread_of(tmp_path, path, table):
    (factor,) = factors_of(tmp_path, f"[factors]\n{path} = {table}\n")
    return factor


@pytest.mark.parametrize(
    ("path", "ends", "unit"),
    [
        ("links.bottleneck.rate", ("1Mbit/s", "100Mbit/s"), "bit/s"),
        ("links.bottleneck.rate", ("2Gbit/s", "300kbit/s"), "bit/s"),
        ("links.bottleneck.delay", ("1ms", "2s"), "s"),
        ("flows.udp.source.cbr.size", ("100B", "1500B"), "byte"),
        ("links.bottleneck.duplicate", (0.001, 0.5), ""),
    ],
)
@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("count", [2, 3, 7, 20])
def test_ranges_are_those_of_numpy_in_few_digits(tmp_path, path, ends, unit, scale, count):
    low, high = (json.dumps(e) for e in ends)
    factor = spread_of(tmp_path, path, f'{{ from = {low}, to = {high}, count = {count}, scale = "{scale}" }}')
    first, last = (float(amount(e).size) for e in ends)
    exact = (np.linspace if scale == "linear" else np.geomspace)(first, last, count)
    found = np.array([level.label for level in factor.levels])
    gaps = np.minimum(np.abs(np.diff(exact, prepend=np.inf)), np.abs(np.diff(exact, append=np.inf)))
    whole = 1.0 if unit in ("bit/s", "byte") else 0.0
    assert np.all(np.abs(found - exact) <= 0.00501 * gaps + 0.5 * whole)
    assert [factor.levels[0].text, factor.levels[-1].text] == [str(e) for e in ends]
    assert factor.unit == unit
    # A person can write any level as it is shown, and means the same.
    for level in factor.levels:
        ((_, value),) = level.sets
        assert level.text == str(value)
        assert float(amount(value).size) == pytest.approx(level.label, rel=1e-15)


@pytest.mark.parametrize(
    ("path", "table", "levels"),
    [
        ("flows.tcp.count", "{ from = 1, to = 10, count = 4 }", [1, 4, 7, 10]),
        ("flows.tcp.count", '{ from = 1, to = 100, count = 3, scale = "log" }', [1, 10, 100]),
        ("flows.tcp.count", "{ from = 1, to = 6, count = 3 }", [1, 4, 6]),
        ("flows.tcp.count", '{ from = 1, to = 64, step = 4, scale = "log" }', [1, 4, 16, 64]),
        ("links.bottleneck.duplicate", "{ from = 0, to = 0.3, step = 0.1 }", [0, 0.1, 0.2, 0.3]),
        ("links.bottleneck.duplicate", "{ from = 0.3, to = 0, step = 0.1 }", [0.3, 0.2, 0.1, 0]),
        ("links.bottleneck.delay", '{ from = "500ms", to = "2s", step = "500ms" }', ["500ms", "1s", "1.5s", "2s"]),
        ("links.bottleneck.delay", '{ from = "0s", to = "1s", count = 3 }', ["0s", "0.5s", "1s"]),
        ("links.bottleneck.queue.droptail.limit", '{ from = "1p", to = "20p", count = 4 }', ["1p", "7p", "14p", "20p"]),
    ],
)
def test_levels_of_a_range(tmp_path, path, table, levels):
    values = [level.sets[0][1] for level in spread_of(tmp_path, path, table).levels]
    assert values == levels
    if path == "flows.tcp.count":
        assert all(isinstance(v, int) for v in values)


# --- the same from Python -----------------------------------------------------------------------------

QUEUES = st.sampled_from(
    [
        "droptail",
        "red{min=5p}",
        "codel",
        "sfq",
        {"red": {"max_p": 0.2}},
        fl.queues.Pie(),
        fl.queues.Red(min="3p"),
        fl.queues.Codel(target="9ms"),
    ]
)
RATES = st.one_of(
    st.lists(st.sampled_from(["1Mbit/s", "2.5Mbit/s", "300kbit/s", "1Gbit/s"]), min_size=1, max_size=3, unique=True),
    st.builds(
        lambda n, scale: {"from": "1Mbit/s", "to": "9Mbit/s", "count": n, "scale": scale},
        st.integers(2, 4),
        st.sampled_from(["linear", "log"]),
    ),
    st.builds(lambda n: np.array([f"{k + 1}Mbit/s" for k in range(n)]), st.integers(1, 3)),
)


@settings(max_examples=cases(40))
@given(
    queues=st.lists(QUEUES, min_size=1, max_size=3, unique_by=repr),
    rates=RATES,
    counts=st.lists(st.integers(1, 3), min_size=1, max_size=3, unique=True),
    seeds=st.lists(st.integers(0, 2**40), min_size=1, max_size=4, unique=True),
    inline=st.booleans(),
)
def test_a_study_written_in_python_and_read_from_its_file_is_the_same(tmp_path_factory, queues, rates, counts, seeds, inline):
    folder = tmp_path_factory.mktemp("study")
    (folder / "dumbbell.toml").write_text(DUMBBELL)
    study = Study(
        fl.Network.from_toml(DUMBBELL) if inline else folder / "dumbbell.toml",
        factors={"links.bottleneck.queue": queues, "links.bottleneck.rate": rates},
        zip=[{"flows.tcp.count": counts, "links.bottleneck.delay": [f"{c}ms" for c in counts]}],
        seeds=seeds,
        metrics={"u": "links.bottleneck.utilisation"},
        precision=0.05,
        plots=[{"kind": "line", "x": "rate", "y": "u"}],
        name="s",
    )
    (folder / "again.toml").write_text(study.to_toml())
    again = Study.from_file(folder / "again.toml")
    for part in ("name", "factors", "seeds", "metrics", "plots", "precision"):
        assert getattr(again.spec, part) == getattr(study.spec, part)
    assert [t for _, t in again.plan().tasks()] == [t for _, t in study.plan().tasks()]
    assert len(study.plan().combinations) == len(queues) * len(study.spec.factors[1].levels) * len(counts)


def test_bad_studies_in_python_are_told_in_the_same_words():
    net = fl.Network.from_toml(DUMBBELL)
    with pytest.raises(fl.ScenarioError, match=r"<study>.*unknown queue 'redd'|unknown queue 'redd'") as e:
        Study(net, factors={"links.bottleneck.queue": ["redd"]}, metrics=["network.jain"])
    assert "did you mean `red`" in str(e.value)
    with pytest.raises(fl.FairlaneError, match="needs a base scenario"):
        Study(7, metrics=["network.jain"])
    with pytest.raises(fl.FairlaneError, match="not object"):
        Study(net, factors={"links.bottleneck.rate": [object()]}, metrics=["network.jain"])


# --- what names a run --------------------------------------------------------------------------------


def keys_of(folder, base=DUMBBELL, text=STUDY, name="study.toml", **changes):
    (folder / "dumbbell.toml").write_text(base)
    (folder / name).write_text(text)
    return [t.key for _, t in make_plan(read_study(folder / name, **changes)).tasks()]


def test_keys_do_not_depend_on_names_and_spelling(tmp_path):
    keys = keys_of(tmp_path)
    assert len(set(keys)) == 12
    assert keys_of(tmp_path, DUMBBELL.replace('"small dumbbell"', '"another"\ndescription = "words"\nseed = 77')) == keys
    assert keys_of(tmp_path, DUMBBELL.replace("\n", "\n\n").replace(" = ", "   =   ") + "# end\n") == keys
    assert keys_of(tmp_path, DUMBBELL.replace('duration = "5s"\nwarmup = "1s"', 'warmup = "1000ms"\nduration = "5s"')) == keys
    assert keys_of(tmp_path, DUMBBELL.replace('rate = "5Mbit/s", delay = "10ms"', 'delay = "10ms", rate = "5000kbit/s"')) == keys
    renamed = (
        'name = "x"\ndescription = "y"\n'
        + STUDY.replace('"links.bottleneck.rate" =', 'speed = { path = "links.bottleneck.rate", values =').rstrip()
        + " }\n"
    )
    assert keys_of(tmp_path, text=renamed) == keys
    assert keys_of(tmp_path, name="other.toml") == keys
    assert set(keys_of(tmp_path, text=STUDY.replace('"1Mbit/s", "10Mbit/s"', '"10Mbit/s", "2Mbit/s"'))) & set(keys) == {
        k for i, k in enumerate(keys) if i % 6 >= 3
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('warmup = "1s"', 'warmup = "900ms"'),
        ("count = 2", "count = 1"),
        ('tcp = "newreno"', 'tcp = { cc = "newreno", window = "9p" }'),
        ("jitter = 0.5", "jitter = 0.25"),
        ('stagger = "100ms"', 'stagger = "101ms"'),
        ('delay = "1ms"', 'delay = "1001us"'),
    ],
)
def test_keys_depend_on_every_parameter(tmp_path, old, new):
    assert old in DUMBBELL
    assert not set(keys_of(tmp_path)) & set(keys_of(tmp_path, DUMBBELL.replace(old, new)))


def test_keys_depend_on_the_order_of_flows_as_results_do(tmp_path):
    head, tcp, udp = re.split(r"(?=\[flows)", DUMBBELL)
    turned = head + udp + "\n" + tcp
    assert not set(keys_of(tmp_path)) & set(keys_of(tmp_path, turned))
    (tmp_path / "a.toml").write_text(DUMBBELL)
    (tmp_path / "b.toml").write_text(turned)
    assert fl.run(tmp_path / "a.toml").fingerprints != fl.run(tmp_path / "b.toml").fingerprints


def test_the_hop_probe_is_part_of_the_key_and_measures(tmp_path):
    text = STUDY.replace("network.jain", "flows.udp.router_path_delay_mean").replace("seeds", "hop_probe = true\nseeds")
    assert not set(keys_of(tmp_path)) & set(keys_of(tmp_path, text=text))
    runs = Study.from_file(tmp_path / "study.toml", seeds=1).run(tmp_path / "out").runs()
    # Propagation of the access link, the bottleneck and the other access link, at least.
    assert runs["flows.udp.router_path_delay_mean"].min() > 0.012


def test_keys_depend_on_seed_engine_and_plug_ins(tmp_path, monkeypatch):
    from fairlane.study import one_run, plan

    keys = keys_of(tmp_path)
    assert not set(keys) & set(keys_of(tmp_path, seeds="4..6"))
    assert keys_of(tmp_path, seeds=[3]) == keys[2::3]
    assert keys_of(tmp_path, seeds="3") == keys
    (tmp_path / "q.py").write_text("x = 1\n")
    with_plugin = STUDY.replace("seeds", 'plugins = ["q.py"]\nseeds')
    first = keys_of(tmp_path, text=with_plugin)
    (tmp_path / "q.py").write_text("x = 2\n")
    second = keys_of(tmp_path, text=with_plugin)
    assert len({*keys, *first, *second}) == 36
    monkeypatch.setattr(one_run, "engine", lambda: "another")
    monkeypatch.setattr(plan, "engine", lambda: "another")
    assert not set(keys) & set(keys_of(tmp_path))


# --- the schema and its page --------------------------------------------------------------------------


def test_the_schema_is_one_and_fits_good_studies():
    schema = json_schema("study-file")
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(tomllib.loads(STUDY), schema)
    for old, new in (("seeds", "sedes"), ("metrics", "set"), ("seeds =", 'keep = "some"\nseeds =')):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(tomllib.loads(STUDY.replace(old, new)), schema)


def test_the_reference_page_is_made_from_the_schema():
    from fairlane.study.manual import page

    file = ROOT / "docs" / "reference" / "studies.md"
    assert file.read_text("utf-8") == page(), "run: python -m fairlane.study.manual > docs/reference/studies.md"


def test_the_example_of_the_reference_page_is_a_study(tmp_path):
    text = "\n".join(json_schema("study-file")["x-example"])
    (tmp_path / "lan.toml").write_text(DUMBBELL)
    (tmp_path / "study.toml").write_text(text)
    plan = make_plan(read_study(tmp_path / "study.toml"))
    assert [f.name for f in plan.spec.factors] == ["queue", "rate", "buffer", "load", "delay"]
    assert len(plan.combinations) == 3 * 5 * 2 * 2 * 2
