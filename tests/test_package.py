"""Metadata of the package, and the agreement of its parts."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
import tomllib
from importlib import metadata, resources

import fairlane as fl
from fairlane import _core
from fairlane.base.metrics import TABLES, metrics, series, unit
from fairlane.base.reference import explain, presets, registry


def test_one_version(root):
    workspace = tomllib.loads((root / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert metadata.version("fairlane") == fl.__version__ == workspace


def test_metadata():
    about = metadata.metadata("fairlane")
    assert about["Requires-Python"] == ">=3.11"
    assert about["License-Expression"] == "MIT OR Apache-2.0"
    assert {"arrow", "pandas", "all", "dev"} <= set(about.get_all("Provides-Extra"))
    needed = {re.split(r"[^A-Za-z0-9_-]", r)[0] for r in metadata.requires("fairlane") if "extra ==" not in r}
    assert needed == {"click", "rich"}
    (script,) = (e for e in metadata.entry_points(group="console_scripts") if e.name == "fairlane")
    assert script.value == "fairlane.cli:main"


def test_data_is_shipped():
    files = resources.files("fairlane")
    assert files.joinpath("py.typed").is_file()
    assert {p.name for p in files.joinpath("scenarios").iterdir()} >= {f"P{i}.toml" for i in range(1, 7)}
    assert files.joinpath("schemas", "run.json").is_file()


def test_every_public_name_exists_and_says_what_it_is():
    for name in fl.__all__:
        assert (getattr(fl, name).__doc__ or "").strip(), name
    assert set(fl.__all__) <= set(dir(fl))


def test_every_public_method_has_a_docstring():
    """Properties and private names need none."""
    classes = [v for name in fl.__all__ if inspect.isclass(v := getattr(fl, name))]
    for cls in classes:
        for name, member in vars(cls).items():
            if inspect.isroutine(member) and not name.startswith("_"):
                assert inspect.getdoc(getattr(cls, name)), f"{cls.__name__}.{name}"


def test_workflows_are_what_their_schema_says(root):
    """The schema comes with the checker, so nothing is fetched; actionlint, which is no package here, was run by hand."""
    files = [str(p) for p in sorted((root / ".github" / "workflows").glob("*.yml"))]
    assert len(files) == 2
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_import_is_light():
    code = "import fairlane, sys; print([m for m in ('polars', 'matplotlib', 'numpy', 'click') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_every_metric_is_defined():
    assert {m.table for m in metrics()} == set(TABLES)
    for m in metrics():
        assert m.unit and m.formula and m.doc and m.source, m
        assert explain(m.name)
    assert len({(m.table, m.name) for m in metrics()}) == len(metrics())
    units: dict[str, set[str]] = {}
    for m in metrics():
        units.setdefault(m.name, set()).add(m.unit)
    assert all(len(u) == 1 for u in units.values()), "a metric's unit must not depend on the table"


def test_every_algorithm_can_be_explained():
    for entry in registry():
        assert entry["doc"].strip(), entry["name"]
        for name in (entry["name"], *entry["aliases"]):
            assert any(e.title == entry["name"] for e in explain(name))
        for p in explain(entry["name"])[0].parameters:
            assert p.doc, (entry["name"], p.name)
    assert {"ns2", "rfc", "linux"} <= {p["name"] for p in presets() if p["algorithm"] == "tcp"}


def test_every_algorithm_has_its_class():
    modules = (fl.queues, fl.cc, fl.sources, fl.controls, fl.topologies, fl.propagation, fl.transports, fl.stacks)
    classes = {(c._kind, c._name) for module in modules for c in (getattr(module, n) for n in module.__all__)}
    # Other tests of this process register plug-ins.
    assert {(e["kind"], e["name"]) for e in json.loads(_core.registry()) if e["name"] not in json.loads(_core.plugins())} <= classes
    assert fl.Red is fl.queues.Red and "Red" not in dir(fl)
    assert fl.queues.Red(min="10p").spec() == {"red": {"min": "10p"}}
    assert fl.queues.Red().spec() == "red"
    assert fl.Network(duration="1s").topology(fl.topologies.Dumbbell(pairs=3)).to_dict()["topology"] == {"dumbbell": {"pairs": 3}}


def test_series_have_units_and_explanations():
    assert {s.table for s in series()} == {"flow_series", "link_series"}
    for s in series():
        assert s.unit and s.doc.endswith("."), s
    assert [unit(x) for x in ("avg", "open", "drop_prob", "class0_class1_avg", "tin3", "cwnd")] == [
        "packets",
        "1",
        "1",
        "packets",
        "packets",
        "byte",
    ]
    assert unit("a_gauge_of_my_own") == ""
    (entry,) = explain("avg")
    assert entry.kind == "time series" and entry.facts == {"table": "link_series", "unit": "packets", "from": "gauge"}
    assert [e.kind for e in explain("flows")][:3] == ["setting", "metric", "time series"]
    (entry,) = explain("unknown-key")
    assert entry.kind == "code of an error"
