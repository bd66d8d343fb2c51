"""Fast commands load few modules, and a missing library is one line of error; benches/startup.py has the seconds."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import fairlane as fl
from conftest import ROOT
from fairlane.base.extras import EXTRAS
from fairlane.base.extras import installing as installing_here

HEAVY = {m for modules in EXTRAS.values() for m in modules}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

LOADED = """
import sys
from fairlane.cli import invoke
assert invoke(sys.argv[1:]) == 0
sys.stderr.write(" ".join({m.partition(".")[0] for m in sys.modules} | {m for m in sys.modules if m.startswith("fairlane.")}))
"""


def modules(code: str, *args: str, cwd=None) -> set[str]:
    done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, check=True, cwd=cwd)
    return set(done.stderr.split())


def test_the_version_needs_not_even_the_command_line():
    assert not modules(LOADED, "--version") & {*HEAVY, "click", "rich", "fairlane.cli.commands"}


@pytest.mark.parametrize(
    "args",
    [
        ["run", "dumbbell.toml"],
        ["run", "dumbbell.toml", "--seeds", "1..3"],
        ["run", "dumbbell.toml", "--json"],
        ["explain", "red"],
        ["tc", "dumbbell.toml", "bottleneck"],
        ["bench", "P5"],
        ["schema", "run"],
        ["--help"],
    ],
    ids=" ".join,
)
def test_commands_load_what_they_need(args, dumbbell):
    loaded = modules(LOADED, *args, cwd=dumbbell.parent)
    assert not loaded & HEAVY
    if args[0] == "run":
        assert not loaded & {"fairlane.cli.study", "fairlane.settings", "fairlane.queues", "fairlane.own.plugin", "fairlane.runs.network"}
    if "--json" in args:
        assert "rich" not in loaded


def test_explaining_a_name_builds_the_parameters_of_each_algorithm_once():
    """Not those of every queue inside each topology and scheduler, which were nine tenths of the start."""
    from fairlane.base.reference import built_in

    found = []

    def walk(node):
        if isinstance(node, dict):
            if node.get("x-registry") in ("queue", "source"):
                found.extend(of for choice in node["anyOf"] for of in choice.get("properties", {}).values())
                return
            node = list(node.values())
        for below in node if isinstance(node, list) else ():
            walk(below)

    walk([entry["schema"] for entry in built_in()])
    assert len(found) > 100 and all(set(of) == {"$ref"} for of in found)


def test_the_page_of_a_run_draws_nothing(dumbbell):
    loaded = modules(LOADED, "run", "dumbbell.toml", "--page", "page.html", cwd=dumbbell.parent)
    assert not loaded & {"matplotlib", "scipy", "duckdb", "pyarrow", "networkx", "aiohttp", "fairlane.study", "fairlane.watch.server"}
    assert len([m for m in loaded if m.startswith("fairlane.")]) < 80


def test_templates_are_compiled_once(dumbbell, tmp_path):
    """Pages keep them next to the files of Python, unless it is to write none."""
    code = """
import sys
from jinja2 import Environment
made = []
real = Environment.compile
Environment.compile = lambda *args, **more: made.append(args) or real(*args, **more)
from fairlane.cli import invoke
assert invoke(["run", sys.argv[1], "--page", "page.html", "--force", "-q"]) == 0
sys.stderr.write("compiled " * len(made))
"""
    kept = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path / "kept"), "PYTHONDONTWRITEBYTECODE": ""}

    def compiled(**more: str) -> int:
        run = [sys.executable, "-c", code, str(dumbbell)]
        done = subprocess.run(run, capture_output=True, text=True, check=True, cwd=tmp_path, env=kept | more)
        return done.stderr.count("compiled")

    assert compiled(PYTHONDONTWRITEBYTECODE="1") == compiled() > 0 == compiled()


def test_a_log_is_imported_by_its_reader_alone(tmp_path):
    (tmp_path / "ss.log").write_text("ESTAB 0 0 10.0.0.1:4 10.0.0.2:5\n\t cubic rtt:20.1/0.5 mss:1448 cwnd:10\n")
    loaded = modules(LOADED, "import", "ss.log", "-o", "r", "-q", cwd=tmp_path)
    assert not loaded & {"matplotlib", "scipy", "jinja2"} and {m for m in loaded if m.startswith("fairlane.formats.logs.")} == {
        "fairlane.formats.logs.ss"
    }


def test_the_package_and_a_result_load_little(dumbbell):
    code = """
import sys
import fairlane as fl
result = fl.run(sys.argv[1], seeds="1..3")
assert result.value("goodput", flow="udp").mean > 0.9e6 and len(repr(result)) > 9
assert 0 < result.value("jain").low and result.fingerprints and result.to_json()
assert str(result.value("goodput", flow="udp")).endswith("(95 %, 3 runs)") and len(result.warnings) >= 0
assert fl.queues.Red(min="3p") and fl.Network(duration="1s").link("a", "b", rate="1Mbit/s", delay="1ms").flow("f", "a", "b", tcp={}).run()
sys.stderr.write(" ".join(m.partition(".")[0] for m in sys.modules))
"""
    assert not modules(code, str(dumbbell)) & {*HEAVY, "click", "rich"}
    printed = code.replace("sys.stderr", "print(result)\nsys.stderr")
    assert not modules(printed, str(dumbbell)) & HEAVY


def installing(what):
    """The command as a program in another folder than that of the environment shows it."""
    with contextlib.chdir(Path(__file__).parent):
        return installing_here(what)


# --- without the extras --------------------------------------------------------------------------------------

BARE = """
import sys

class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in GONE:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

GONE = set(sys.argv.pop(1).split(","))
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name in GONE else find(name, package)
sys.meta_path.insert(0, Nothing())
"""


def bare(code: str, *args: str, gone: set[str] = HEAVY, cwd=None) -> subprocess.CompletedProcess[str]:
    """Runs Python without some libraries."""
    return subprocess.run([sys.executable, "-c", BARE + code, ",".join(gone), *args], capture_output=True, text=True, check=False, cwd=cwd)


COMMAND = "from fairlane.cli import main\nmain()"


@pytest.mark.parametrize(
    ("args", "extra"),
    [
        (["run", "dumbbell.toml", "--plot", "queue.svg"], "plots"),
        (["run", "dumbbell.toml", "--out", "out"], "tables"),
        (["study", "s.toml"], "study"),
        (["compare"], "study"),
        (["reproduce"], "study"),
        (["reproduce", "sarma2013", "--quick"], "study"),
        (["tune", "t.toml"], "tune"),
        (["run", "dumbbell.toml", "--page", "page.html", "--plot", "queue.svg", "--out", "out"], "study"),
        (["run", "dumbbell.toml", "--out", "out", "--trace"], "tables"),
        (["plot", "dumbbell.toml", "queue-events"], "plots"),
        (["plot", "--list"], "plots"),
        (["report", "out", "-o", "page.html"], "study"),
        (["watch", "dumbbell.toml"], "watch"),
        (["watch", "dumbbell.toml", "--save", "page.html"], "study"),
        (["import", "line.pcapng", "-o", "out"], "tables"),
        (["export", "out", "flent", "-o", "x.flent"], "tables"),
        (["verify", "out"], "study"),
        (["new", "paper", "mine2026"], "study"),
    ],
    ids=lambda x: x if isinstance(x, str) else " ".join(x),
)
def test_a_command_names_the_extra_before_it_does_anything(args, extra, dumbbell):
    done = bare(COMMAND, *args, cwd=dumbbell.parent)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: numpy") and done.stderr.endswith(f"not installed: {installing(f'fairlane[{extra}]')}\n")
    assert done.stderr.count("\n") == 1
    assert [p.name for p in dumbbell.parent.iterdir()] == [dumbbell.name]


def test_what_needs_no_extra_works_without(dumbbell):
    for args in (
        ["run", "dumbbell.toml", "--seeds", "1..3"],
        ["run", "dumbbell.toml", "--json"],
        ["explain", "red"],
        ["doctor"],
        ["--help"],
    ):
        done = bare(COMMAND, *args, cwd=dumbbell.parent)
        assert (done.returncode, done.stderr) == (0, ""), args
        assert done.stdout
    # The same numbers, to the last digit.
    with_all = subprocess.run(
        [sys.executable, "-m", "fairlane", "run", str(dumbbell), "--json"], capture_output=True, text=True, check=True
    )
    assert json.loads(bare(COMMAND, "run", "dumbbell.toml", "--json", cwd=dumbbell.parent).stdout) == json.loads(with_all.stdout)


@pytest.mark.parametrize(
    ("line", "extra"),
    [
        ("result.flows", "tables"),
        ("result.mean()", "tables"),
        ("result.summary()", "tables"),
        ("result.warmup('queue', link='bottleneck')", "tables"),
        ("result.save('out')", "tables"),
        ("fl.load('out')", "tables"),
        ("result.plot('queue')", "plots"),
        ("result.to_pandas()", "pandas"),
        ("result.to_arrow()", "arrow"),
        ("fl.compare(queues='red,codel')", "study"),
        ("fl.load_study('out')", "study"),
        ("fl.Study({})", "study"),
        ("fl.Study.from_file('s.toml')", "study"),
        ("fl.Tuning.from_file('t.toml').run()", "tune"),
        ("fl.reproduce('sarma2013')", "study"),
        ("fl.stats.paired([1, 2], [2, 3])", "study"),
    ],
)
def test_python_names_the_extra(line, extra, dumbbell):
    code = f"""
import fairlane as fl
result = fl.run(sys.argv[1], sets={{"duration": "1500ms"}})
try:
    {line}
except fl.FairlaneError as e:
    print(e)
"""
    done = bare(code, str(dumbbell), cwd=dumbbell.parent)
    assert done.stdout.endswith(f"not installed: {installing(f'fairlane[{extra}]')}\n"), done.stdout + done.stderr


@pytest.mark.parametrize("gone", [{"optuna"}, {"polars"}, {"scipy", "jinja2"}, HEAVY], ids=lambda gone: "-".join(sorted(gone)[:2]))
def test_names_fail_only_when_they_are_called(gone):
    code = """
import inspect
from fairlane import *
import fairlane as fl
for module in (fl, fl.stats, fl.papers):
    for name in dir(module):
        assert hasattr(module, name), name
    assert dict(inspect.getmembers(module)).keys() >= set(module.__all__)
    assert inspect.getmembers(module, inspect.isclass)
assert not hasattr(fl.Study, "__wrapped__") and dir(fl.Study) and inspect.getdoc(fl.Tuning)
try:
    fl.Tuning.from_file("t.toml").run()
except ImportError as e:
    print(type(e).__name__, e)
"""
    done = bare(code, gone=gone)
    assert done.returncode == 0 and done.stdout.startswith("MissingError ") and "fairlane[tune]" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("gone", "extra", "args"),
    [
        ("matplotlib", "plots", ["run", "dumbbell.toml", "--plot", "queue.svg"]),
        ("duckdb", "query", ["query", "out", "goodput"]),
        ("networkx", "graphs", ["new", "network", "net.graphml"]),
        ("optuna", "tune", ["tune", "t.toml"]),
        ("aiohttp", "watch", ["watch", "dumbbell.toml"]),
        ("distributed", "cluster", ["study", "s.toml", "--cluster", "tcp://localhost:1"]),
        ("mpi4py", "mpi", ["tune", "t.toml", "--mpi"]),
    ],
)
def test_one_library_is_named_alone(gone, extra, args, dumbbell):
    """With the command that installs it into the environment of this Python, whatever `pip` is on PATH."""
    done = bare(COMMAND, *args, gone={gone}, cwd=dumbbell.parent)
    command = installing(f"fairlane[{extra}]")
    assert done.stderr == f"error: {gone} is not installed: {command}\n" and done.returncode == 2
    assert command == f"pip install 'fairlane[{extra}]'" or command == f"{shlex.quote(sys.executable)} -m pip install 'fairlane[{extra}]'"
    assert [p.name for p in dumbbell.parent.iterdir()] == [dumbbell.name]


def test_plots_of_events_need_no_library_for_arrow(dumbbell):
    done = bare(COMMAND, "plot", "dumbbell.toml", "queue-events", "-o", "events.svg", gone={"pyarrow"}, cwd=dumbbell.parent)
    assert (done.returncode, done.stdout, done.stderr) == (0, "wrote events.svg\n", "")


def test_the_environment_of_make_has_what_the_pages_show():
    """`make demo` installs the extra `all`, which has every other extra but those for several machines."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert re.findall(r"maturin develop .*--extras (\S+)", makefile) == ["all", "all", "all"]
    names = {re.split("[>=]", r)[0] for r in PROJECT["optional-dependencies"]["all"]}
    assert {m for extra, of in EXTRAS.items() for m in of} - names == {"distributed", "mpi4py"}


# --- what an index shows ---------------------------------------------------------------------------------------


def test_the_metadata_of_the_package():
    """Authors as CITATION.cff has them, every Python that wheels are made for, and links to the repository that CITATION.cff names."""
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert [a["name"] for a in PROJECT["authors"]] == re.findall(r"^  - name: (.+)$", citation, re.M)
    minor = int(PROJECT["requires-python"].removeprefix(">=3."))
    assert f"Programming Language :: Python :: 3.{minor}" in PROJECT["classifiers"]
    assert not [c for c in PROJECT["classifiers"] if re.search(rf":: 3\.(?!{minor}\b)(\d+)", c) and int(c.rpartition(".")[2]) < minor]
    assert len(PROJECT["keywords"]) >= 5 and PROJECT["keywords"] == sorted(PROJECT["keywords"])
    named = re.search(r"^repository-code: [\"']?([^\"'\n]+)", citation, re.M)
    assert PROJECT.get("urls", {}).get("Repository") == (named[1] if named else None)


# --- what is installed ---------------------------------------------------------------------------------------


def names(requirements: list[str]) -> set[str]:
    return {r.partition(">")[0].partition("=")[0] for r in requirements}


def test_the_package_itself_draws_in_two_libraries():
    assert names(PROJECT["dependencies"]) == {"click", "rich"}


def test_extras_are_what_the_errors_say():
    extras = PROJECT["optional-dependencies"]
    assert {extra: names(extras[extra]) for extra in EXTRAS} == {extra: set(libraries) for extra, libraries in EXTRAS.items()}
    # Transport stacks are the extension itself: a scenario says which one is missing.
    assert set(extras) == {*EXTRAS, "all", "site", "dev", "stacks"}
    # A Dask cluster and MPI are for those who have one.
    assert names(extras["all"]) == HEAVY - {"distributed", "mpi4py"}
    # One lower bound for each library, wherever it stands.
    bounds = {r for of_extra in extras.values() for r in of_extra}
    assert len(bounds) == len(names(sorted(bounds)))


def test_the_page_of_a_package_index_leads_nowhere_that_it_has_not():
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        import package_index
    finally:
        sys.path.pop(0)
    shown = (ROOT / PROJECT["readme"]).read_text("utf-8")
    assert shown == package_index.main(), "run: python docs/package_index.py > docs/package-index.md"
    assert not [t for t in re.findall(r"\]\(([^)\s]+)\)", shown) if not t.startswith("https://")]
    assert "src=" not in shown and "href=" not in shown
    with_url = package_index.page((ROOT / "README.md").read_text("utf-8"), "https://host/us/it")
    targets = re.findall(r"(!?)\[[^\]]*\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", with_url, flags=re.S))
    assert len(targets) > 10 and all(t.startswith("https://host/us/it/" + ("raw/" if picture else "blob/")) for picture, t in targets)


def test_a_result_goes_through_pickle(dumbbell):
    import pickle

    result = fl.run(dumbbell)
    again = pickle.loads(pickle.dumps(result))
    assert again.flows.equals(result.flows) and again.value("jain") == result.value("jain")
