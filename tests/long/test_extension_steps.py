"""Adds minimal examples to a copy of the sources by the steps of CONTRIBUTING.md alone; each omitted line must be named.

`tests/minimal/KIND` has a minimal example of each kind: its new file, and in `steps.toml` the lines to add to existing files.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath

import pytest

from conftest import ROOT

EXAMPLES = ROOT / "tests" / "minimal"
COPY = ROOT / "target" / "minimal" / "copy"
"""The copy. It is kept with its build, so that the next run builds only what has changed."""
LIMITS = {
    "queue": (1, 3),
    "control": (1, 2),
    "source": (1, 2),
    "impairment": (1, 1),
    "topology": (1, 1),
    "metric": (0, 1),
    "series": (0, 1),
    "command": (0, 1),
}
"""Most new files, and most places in existing files."""


@dataclass(frozen=True)
class Place:
    """A line to add after another one, which is identified by its beginning."""

    file: str
    after: str
    text: str


@dataclass(frozen=True)
class Example:
    """The files and lines that add one thing."""

    kind: str
    section: str
    files: dict[str, str]
    places: tuple[Place, ...]


def read(kind: str) -> Example:
    folder = EXAMPLES / kind
    steps = tomllib.loads((folder / "steps.toml").read_text("utf-8"))
    files = {p.relative_to(folder).as_posix(): p.read_text("utf-8") for p in folder.rglob("*") if p.is_file() and p.name != "steps.toml"}
    return Example(kind, steps["section"], files, tuple(Place(**line) for line in steps["line"]))


ALL = {kind: read(kind) for kind in LIMITS}


def with_places(text: str, places: list[Place]) -> str:
    """Returns the text of a file with the lines of examples added."""
    lines = text.split("\n")
    for place in places:
        (at,) = [i for i, line in enumerate(lines) if line.startswith(place.after)]
        lines.insert(at + 1, place.text)
    return "\n".join(lines)


def with_examples(without: Place | None = None) -> Iterator[tuple[str, str]]:
    """Yields the files that examples change, with their text in the copy; `without`: a place to omit."""
    places = [place for example in ALL.values() for place in example.places if place != without]
    for file in {place.file for example in ALL.values() for place in example.places}:
        yield file, with_places((ROOT / file).read_text("utf-8"), [p for p in places if p.file == file])


# The size of an example, and the text of CONTRIBUTING.md


def test_there_is_an_example_of_each_kind():
    assert {p.name for p in EXAMPLES.iterdir()} == set(LIMITS)


@pytest.mark.parametrize("kind", LIMITS)
def test_adding_one_takes_few_places(kind):
    example, (files, places) = ALL[kind], LIMITS[kind]
    assert len(example.files) <= files and 0 < len(example.places) <= places
    if kind != "command":
        assert not any("\n" in place.text for place in example.places), "a place is one line"


def section(title: str) -> str:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    return re.search(rf"^## {re.escape(title)}\n+(.*?)(?=^##)", text, re.M | re.S)[1]


def code_files(text: str) -> list[str]:
    return re.findall(r"`([\w/]+\.(?:rs|py))`", text)


@pytest.mark.parametrize("title", sorted({example.section for example in ALL.values()}))
def test_contributing_names_the_files(title):
    """Step 1 says which file to write and step 2 where its lines go; sections without steps say it in their first sentence."""
    examples, text = [example for example in ALL.values() if example.section == title], section(title)
    written = re.search(r"^1\. Write `([\w/]+/)\w+\.rs`", text, re.M)
    folders = {f"{PurePosixPath(file).parent}/" for example in examples for file in example.files}
    assert folders == ({written[1]} if written else set())
    second = re.search(r"^2\. .*", text, re.M)
    named = code_files(second[0] if second else re.split(r"\.\s", text)[0])
    edited = {place.file for example in examples for place in example.places}
    found = [[file for file in edited if f"/{file}".endswith(f"/{name}")] for name in named]
    assert sorted(file for files in found for file in files) == sorted(edited), f"{title} names {named}"
    assert all(found), f"{title} names {named}, of which an example needs {sorted(edited)} only"


# The steps are enough


def cargo(*args: str, fails: bool = False) -> str:
    """Runs cargo in the copy, and returns its output."""
    env = os.environ | {"CARGO_TARGET_DIR": str(COPY.parent / "target"), "CARGO_NET_OFFLINE": "true", "PYO3_PYTHON": sys.executable}
    env |= {"CARGO_PROFILE_TEST_OPT_LEVEL": "1", "CARGO_PROFILE_TEST_DEBUG": "0"}
    done = subprocess.run(["cargo", *args], cwd=COPY, env=env, capture_output=True, text=True, timeout=3000, check=False)
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stdout + done.stderr


def put(file: str, text: bytes) -> None:
    """Writes a file of the copy; an equal file keeps its time, so that it is not built again."""
    path = COPY / file
    if not path.exists() or path.read_bytes() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)


@dataclass(frozen=True)
class Built:
    """The programs of the copy."""

    tests: str
    dev: str

    def failures(self, *names: str) -> str:
        """Runs the tests of the scenario crate whose names contain one of `names`; returns the output if any fails, else nothing."""
        done = subprocess.run([self.tests, *names], cwd=COPY / "crates" / "scenario", capture_output=True, text=True, check=False)
        assert not re.search(r"running 0 tests", done.stdout), f"no test is called {names}"
        return done.stdout + done.stderr if done.returncode else ""

    def dev_says(self, *args: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "CARGO_MANIFEST_DIR": str(COPY / "crates" / "dev")}
        return subprocess.run([self.dev, *args], env=env, capture_output=True, text=True, check=False)


def copy() -> None:
    """Copies the files that git does not ignore, and adds the examples. Its generated files stay: `cargo dev gen` rewrites them."""
    listed = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    ours = [file for file in listed.stdout.split("\0") if file and (ROOT / file).exists() and not file.startswith("tests/minimal/")]
    changed = {file: text for example in ALL.values() for file, text in example.files.items()} | dict(with_examples())
    for path in [p for p in COPY.rglob("*") if p.is_file() and p.suffix != ".so" and ".git" not in p.parts]:
        if path.relative_to(COPY).as_posix() not in {*ours, *changed}:
            path.unlink()
    for file in ours:
        if (ROOT / file).is_symlink():
            (COPY / file).parent.mkdir(parents=True, exist_ok=True)
            if not (COPY / file).is_symlink():
                (COPY / file).symlink_to((ROOT / file).readlink())
        elif file not in changed and not (file in GENERATED and (COPY / file).exists()):
            put(file, (ROOT / file).read_bytes())
    for file, text in changed.items():
        put(file, text.encode())
    if not (COPY / ".git").exists():
        subprocess.run(["git", "init", "-q", str(COPY)], check=True)


CONFORMANCE = ("every_", "any_source", "declarations_are_the_same", "one_unit")
"""Parts of the names of tests that run on every registered algorithm."""
PACKAGES = ("--package=fairlane-dev", "--package=fairlane-py", "--package=fairlane-scenario")
CLASSES = ("cc", "controls", "propagation", "queues", "sources", "topologies", "transports")
"""Modules of the classes of algorithms."""
GENERATED = {*(f"python/fairlane/{m}.py" for m in (*CLASSES, "builders", "settings")), "docs/reference/schema.json"}
"""Files that `cargo dev gen` writes, and that trigger a new build if they change."""


@pytest.fixture(scope="module")
def built() -> Built:
    """The copy with all examples: its files generated, its extension and tests built."""
    copy()
    # Always the same packages: with others, features of what they share would differ, and all of it be built again.
    cargo("build", "--profile", "test", *PACKAGES)
    debug = COPY.parent / "target" / "debug"
    (library,) = (p for name in ("lib_core.so", "lib_core.dylib") if (p := debug / name).exists())
    shutil.copyfile(library, COPY / "python" / "fairlane" / "_core.abi3.so")
    output = cargo("test", "--no-run", *PACKAGES, "--test=all")
    (tests,) = re.findall(r"Executable tests/all\.rs \((.*)\)", output)
    built = Built(str(COPY / tests), str(debug / "fairlane-dev"))
    assert built.dev_says("gen").returncode == 0
    return built


def python(code: str) -> dict:
    """Runs code with the package of the copy, and returns its `out`."""
    head = "import json\nimport fairlane as fl\nout = {}\n"
    env = {**os.environ, "PYTHONPATH": f"{COPY / 'python'}{os.pathsep}{COPY}"}
    command = [sys.executable, "-c", f"{head}{code}\nprint(json.dumps(out))"]
    done = subprocess.run(command, cwd=COPY, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


LINK = 'net = fl.Network(duration="50s", warmup="10s", sample="100ms").link("a", "b", name="l", rate="10Mbit/s", delay="20ms"{})\n'
CBR = 'net.flow("f", "a", "b", udp={"header": "0B"}, source=fl.sources.Cbr(rate="2Mbit/s", size="1000B"))\nrun = net.run()\n'


@pytest.mark.long
def test_generated_files_follow(built):
    assert built.dev_says("check").returncode == 0
    schema = (COPY / "docs/reference/schema.json").read_text("utf-8")
    classes = "".join((COPY / f"python/fairlane/{m}.py").read_text("utf-8") for m in CLASSES)
    for name, cls in (("hundredth", "Hundredth"), ("brisk", "Brisk"), ("twins", "Twins"), ("tandem", "Tandem")):
        assert f'"{name}"' in schema and re.search(rf"^class {cls}\b", classes, re.M)
    assert '"corrupt"' in schema and "corrupt" in (COPY / "python/fairlane/settings.py").read_text("utf-8")
    metrics = (COPY / "docs/reference/metrics.md").read_text("utf-8")
    assert "`delay_twice` | s |" in metrics and "`queue_bits` | bit |" in metrics


@pytest.mark.long
def test_the_conformance_suites_run_on_them(built):
    """Tests that run on every algorithm also run on the examples, without a list of them."""
    assert (failed := built.failures(*CONFORMANCE)) == "", failed


@pytest.mark.long
def test_the_queue_drops_every_hundredth(built):
    out = python(LINK.format(', queue=fl.queues.Hundredth(limit="50p")') + CBR + 'out["loss"] = run.value("loss", flow="f").mean')
    assert out["loss"] == pytest.approx(0.01, abs=1e-3)


@pytest.mark.long
def test_the_control_sends(built):
    """Four segments a round trip instead of one: from a threshold of two segments on, the window has grown four times as far as Reno's."""
    window = 'run.flow_series.filter(run.flow_series["time"] <= 20)["cwnd"].max()'
    net = 'fl.Network(duration="20s", sample="100ms").link("a", "b", rate="1Gbit/s", delay="50ms")'
    flow = 'flow("f", "a", "b", tcp={"cc": cc, "initial_ssthresh": "2p", "mss": "1000B"})'
    out = python(f'for cc in ("reno", "brisk"):\n    run = {net}.{flow}.run()\n    out[cc] = {window}')
    assert out["brisk"] / out["reno"] == pytest.approx(4, rel=0.1)


@pytest.mark.long
def test_the_source_delivers(built):
    """40 s of pairs that come 20 ms apart in the mean: 4,000 packets, with a standard deviation of 2 sqrt(2,000)."""
    flow = 'net.flow("f", "a", "b", udp={}, source=fl.sources.Twins())\nrun = net.run()\n'
    values = 'out |= {m: run.value(m, flow="f").mean for m in ("packets_received", "loss", "delay_max")}'
    out = python(LINK.format("") + flow + values)
    assert out["packets_received"] == pytest.approx(4000, abs=4 * 2 * 2000**0.5) and out["loss"] == 0
    assert out["delay_max"] > 0.0216, "the second of two packets waits for the first"


@pytest.mark.long
def test_the_impairment_acts_and_others_name_it(built):
    """It loses a fifth of 10,000 packets (standard deviation 0.4 %); tc's and ns-2's side do not know it, and say so."""
    code = (
        LINK.format(', corrupt={"share": 0.2}') + CBR + 'out["loss"] = run.value("loss", flow="f").mean\n'
        "from fairlane.base.scenario import resolve\nfrom fairlane.linux import export\nfrom validation.ns2 import network\n"
        'out["tc"] = export(net, "l")[0].missing\n'
        'try:\n    network.read(resolve(net))\nexcept network.Unsupported as e:\n    out["ns2"] = str(e)\n'
    )
    out = python(code)
    assert out["loss"] == pytest.approx(0.2, abs=0.016)
    assert out["tc"] == ["the impairment corrupt"]
    assert "corrupt: not mapped to ns-2" in out["ns2"]


@pytest.mark.long
def test_the_topology_builds(built):
    """Four links of 5 ms and 0.8 ms to send 1,000 bytes at 10 Mbit/s."""
    net = 'net = fl.Network(duration="5s")\nnet.topology("tandem", routers=3)\n'
    out = python(net + CBR.replace("2Mbit/s", "80kbit/s") + 'out["delay"] = run.value("delay_max", flow="f").mean')
    assert out["delay"] == pytest.approx(4 * (5e-3 + 0.8e-3))


@pytest.mark.long
def test_the_metric_and_the_series_are_columns_with_units(built):
    code = (
        LINK.format(', queue="droptail"') + 'net.flow("f", "a", "b", tcp="sack")\nrun = net.run()\n'
        "from fairlane.base import metrics\n"
        'out["metric"] = [run.value(m, flow="f").mean for m in ("delay_twice", "delay_mean")]\n'
        's = run.link_series\nout["series"] = bool((s["queue_bits"] == 8 * s["queue_bytes"]).all()), s["queue_bits"].max()\n'
        'out["units"] = metrics.units()["delay_twice"], next(s.unit for s in metrics.series() if s.name == "queue_bits")\n'
    )
    out = python(code)
    twice, mean = out["metric"]
    assert twice == pytest.approx(2 * mean) and mean > 0.02
    equal, most = out["series"]
    assert equal and most > 0
    assert out["units"] == ["s", "bit"]


@pytest.mark.long
def test_the_command_runs_and_is_in_the_manual(built):
    code = "from click.testing import CliRunner\nfrom fairlane.cli import manual\nfrom fairlane.cli.commands import cli\n"
    out = python(
        code + 'out = {w: CliRunner().invoke(cli, w.split()).output for w in ("greet you", "--help")}\nout["manual"] = manual.page()\n'
    )
    assert out["greet you"] == "hello, you\n"
    assert re.search(r"^ +greet +Say hello", out["--help"], re.M)
    assert "## `greet`" in out["manual"]


@pytest.mark.long
def test_examples_lack_only_page_test_and_example(built):
    """tests/test_registry.py demands page, check and example for each named example, and nothing else."""
    env = {**os.environ, "PYTHONPATH": str(COPY / "python")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_registry.py"]
    done = subprocess.run(command, cwd=COPY, env=env, capture_output=True, text=True, check=False)
    named = re.findall(r"^E +(?:the|no example uses the) (\w+) `(\w+)`", done.stdout, re.M)
    added = [("queue", "hundredth"), ("cc", "brisk"), ("source", "twins"), ("topology", "tandem")]
    assert sorted(named) == sorted(added * 3), done.stdout


# An omitted line is named


@contextmanager
def forgotten(*places: Place) -> Iterator[None]:
    """Removes these lines from the copy for a while."""
    originals = {file: ((COPY / file).read_text("utf-8"), (COPY / file).stat()) for file in {place.file for place in places}}
    try:
        for place in places:
            text = (COPY / place.file).read_text("utf-8")
            assert text.count(f"{place.text}\n") == 1
            (COPY / place.file).write_text(text.replace(f"{place.text}\n", ""), "utf-8")
        yield
    finally:
        # With its old time, so that its build is valid again.
        for file, (text, was) in originals.items():
            (COPY / file).write_text(text, "utf-8")
            os.utime(COPY / file, ns=(was.st_atime_ns, was.st_mtime_ns))


def line(kind: str, file: str) -> Place:
    """Returns the line of an example in an existing file."""
    (found,) = (place for place in ALL[kind].places if place.file.endswith(f"/{file}"))
    return found


QUEUE_MODULE, QUEUE_EXPORT = line("queue", "law/mod.rs"), line("queue", "src/lib.rs")
CONTROL_MODULE, SOURCE_MODULE = line("control", "cc/mod.rs"), line("source", "source/mod.rs")
ROWS = {kind: line(kind, "registry.rs") for kind in ("queue", "control", "source")}
LISTED = {"impairment": line("impairment", "impair/mod.rs"), "topology": line("topology", "topology/mod.rs")}


def test_every_line_is_left_out_once():
    """Except where the line is the whole example: a metric, a series, a command."""
    left_out = [QUEUE_MODULE, QUEUE_EXPORT, CONTROL_MODULE, SOURCE_MODULE, *ROWS.values(), *LISTED.values()]
    assert sorted(map(repr, left_out)) == sorted(repr(place) for example in ALL.values() if example.files for place in example.places)


@pytest.mark.long
def test_the_compiler_names_a_module_or_an_export_that_is_missing(built):
    """Two crates that do not know one another fail at once, and so do two lines of one crate."""
    with forgotten(QUEUE_MODULE, CONTROL_MODULE):
        output = cargo("check", "--keep-going", *PACKAGES, fails=True)
    assert "`hundredth`" in output and "`brisk`" in output
    with forgotten(QUEUE_EXPORT, SOURCE_MODULE):
        output = cargo("check", *PACKAGES, fails=True)
    assert "`HundredthParams`" in output and "`twins`" in output


@pytest.mark.long
@pytest.mark.parametrize("kind", ROWS)
def test_a_test_names_a_line_of_the_registry_that_is_missing(built, kind):
    """These tests read the sources when they run, so nothing is built again."""
    with forgotten(ROWS[kind]):
        failed = built.failures("every_algorithm_is_registered")
    (file,) = ALL[kind].files
    assert f"{PurePosixPath(file).stem.title()}Params" in failed and "registry.rs" in failed


@pytest.mark.long
@pytest.mark.parametrize("kind", LISTED)
def test_a_file_without_its_line_is_named(built, kind):
    done = built.dev_says("files")
    assert done.returncode == 0, done.stderr
    with forgotten(LISTED[kind]):
        done = built.dev_says("files")
    (file,) = ALL[kind].files
    assert done.returncode != 0 and f"{file}: no module of" in done.stderr
