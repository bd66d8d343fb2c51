"""The steps of CONTRIBUTING.md are all that there is: toys added by them alone, to a copy of the sources, work; a line left out is named.

`tests/toys/KIND` has a toy as somebody would add it: its new file, and in `steps.toml` the lines that go into files of ours.
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

TOYS = ROOT / "tests" / "toys"
HOUSE = ROOT / "target" / "toys" / "house"
"""The copy. It stays, and so does what was built in it: the next time only what has changed is."""
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
"""New files and places in files of ours, at most."""


@dataclass(frozen=True)
class Place:
    """A line to be added behind another one, which is named by its beginning."""

    file: str
    after: str
    text: str


@dataclass(frozen=True)
class Toy:
    """What somebody who adds one thing writes."""

    kind: str
    section: str
    files: dict[str, str]
    places: tuple[Place, ...]


def read(kind: str) -> Toy:
    folder = TOYS / kind
    steps = tomllib.loads((folder / "steps.toml").read_text("utf-8"))
    files = {p.relative_to(folder).as_posix(): p.read_text("utf-8") for p in folder.rglob("*") if p.is_file() and p.name != "steps.toml"}
    return Toy(kind, steps["section"], files, tuple(Place(**line) for line in steps["line"]))


ALL = {kind: read(kind) for kind in LIMITS}


def with_places(text: str, places: list[Place]) -> str:
    """A file with lines of toys."""
    lines = text.split("\n")
    for place in places:
        (at,) = [i for i, line in enumerate(lines) if line.startswith(place.after)]
        lines.insert(at + 1, place.text)
    return "\n".join(lines)


def with_toys(without: Place | None = None) -> Iterator[tuple[str, str]]:
    """The files that toys change, with their text in the copy; one place may be forgotten."""
    places = [place for toy in ALL.values() for place in toy.places if place != without]
    for file in {place.file for toy in ALL.values() for place in toy.places}:
        yield file, with_places((ROOT / file).read_text("utf-8"), [p for p in places if p.file == file])


# How much it is, and whether CONTRIBUTING.md says just that


def test_there_is_a_toy_of_each_kind():
    assert {p.name for p in TOYS.iterdir()} == set(LIMITS)


@pytest.mark.parametrize("kind", LIMITS)
def test_adding_one_takes_few_places(kind):
    toy, (files, places) = ALL[kind], LIMITS[kind]
    assert len(toy.files) <= files and 0 < len(toy.places) <= places
    if kind != "command":
        assert not any("\n" in place.text for place in toy.places), "a place is one line"


def section(title: str) -> str:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    return re.search(rf"^## {re.escape(title)}\n+(.*?)(?=^##)", text, re.M | re.S)[1]


def code_files(text: str) -> list[str]:
    return re.findall(r"`([\w/]+\.(?:rs|py))`", text)


@pytest.mark.parametrize("title", sorted({toy.section for toy in ALL.values()}))
def test_contributing_names_the_files(title):
    """Step 1 says which file to write and step 2 where its lines go; sections without steps say it in their first sentence."""
    toys, text = [toy for toy in ALL.values() if toy.section == title], section(title)
    written = re.search(r"^1\. Write `([\w/]+/)\w+\.rs`", text, re.M)
    folders = {f"{PurePosixPath(file).parent}/" for toy in toys for file in toy.files}
    assert folders == ({written[1]} if written else set())
    second = re.search(r"^2\. .*", text, re.M)
    named = code_files(second[0] if second else re.split(r"\.\s", text)[0])
    edited = {place.file for toy in toys for place in toy.places}
    found = [[file for file in edited if f"/{file}".endswith(f"/{name}")] for name in named]
    assert sorted(file for files in found for file in files) == sorted(edited), f"{title} names {named}"
    assert all(found), f"{title} names {named}, of which a toy needs {sorted(edited)} only"


# That it is enough


def cargo(*args: str, fails: bool = False) -> str:
    """Runs cargo in the copy, and returns what it says."""
    env = os.environ | {"CARGO_TARGET_DIR": str(HOUSE.parent / "target"), "CARGO_NET_OFFLINE": "true", "PYO3_PYTHON": sys.executable}
    env |= {"CARGO_PROFILE_TEST_OPT_LEVEL": "1", "CARGO_PROFILE_TEST_DEBUG": "0"}
    done = subprocess.run(["cargo", *args], cwd=HOUSE, env=env, capture_output=True, text=True, timeout=3000, check=False)
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stdout + done.stderr


def put(file: str, text: bytes) -> None:
    """Writes a file of the copy, unless it is so already: what has not changed is not built again."""
    path = HOUSE / file
    if not path.exists() or path.read_bytes() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)


@dataclass(frozen=True)
class Built:
    """The programs of the copy."""

    tests: str
    dev: str

    def failures(self, *names: str) -> str:
        """Runs the tests of the scenario crate with such names, and returns what failed of them: nothing if all is well."""
        done = subprocess.run([self.tests, *names], cwd=HOUSE / "crates" / "scenario", capture_output=True, text=True, check=False)
        assert not re.search(r"running 0 tests", done.stdout), f"no test is called {names}"
        return done.stdout + done.stderr if done.returncode else ""

    def dev_says(self, *args: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "CARGO_MANIFEST_DIR": str(HOUSE / "crates" / "dev")}
        return subprocess.run([self.dev, *args], env=env, capture_output=True, text=True, check=False)


def copy() -> None:
    """All that git knows, or could, with the toys. What `cargo dev gen` has written in the copy stays: it writes it again."""
    listed = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    ours = [file for file in listed.stdout.split("\0") if file and (ROOT / file).exists() and not file.startswith("tests/toys/")]
    changed = {file: text for toy in ALL.values() for file, text in toy.files.items()} | dict(with_toys())
    for path in [p for p in HOUSE.rglob("*") if p.is_file() and p.suffix != ".so" and ".git" not in p.parts]:
        if path.relative_to(HOUSE).as_posix() not in {*ours, *changed}:
            path.unlink()
    for file in ours:
        if (ROOT / file).is_symlink():
            (HOUSE / file).parent.mkdir(parents=True, exist_ok=True)
            if not (HOUSE / file).is_symlink():
                (HOUSE / file).symlink_to((ROOT / file).readlink())
        elif file not in changed and not (file in GENERATED and (HOUSE / file).exists()):
            put(file, (ROOT / file).read_bytes())
    for file, text in changed.items():
        put(file, text.encode())
    if not (HOUSE / ".git").exists():
        subprocess.run(["git", "init", "-q", str(HOUSE)], check=True)


CONFORMANCE = ("every_", "any_source", "declarations_are_the_same", "one_unit")
"""Those that run on whatever is registered, by parts of their names."""
PACKAGES = ("--package=fairlane-dev", "--package=fairlane-py", "--package=fairlane-scenario")
GENERATED = {"python/fairlane/_params.py", "python/fairlane/settings.py", "docs/reference/schema.json"}
"""What is built again where it changes; `cargo dev gen` writes it."""


@pytest.fixture(scope="module")
def built() -> Built:
    """The copy with all toys, its generated files written, its extension and tests built."""
    copy()
    # Always the same packages: with others, features of what they share would differ, and all of it be built again.
    cargo("build", "--profile", "test", *PACKAGES)
    debug = HOUSE.parent / "target" / "debug"
    (library,) = (p for name in ("lib_core.so", "lib_core.dylib") if (p := debug / name).exists())
    shutil.copyfile(library, HOUSE / "python" / "fairlane" / "_core.abi3.so")
    said = cargo("test", "--no-run", *PACKAGES, "--test=all")
    (tests,) = re.findall(r"Executable tests/all\.rs \((.*)\)", said)
    house = Built(str(HOUSE / tests), str(debug / "fairlane-dev"))
    assert house.dev_says("gen").returncode == 0
    return house


def python(code: str) -> dict:
    """Runs code with the package of the copy, and returns what it leaves in `out`."""
    head = "import json\nimport fairlane as fl\nout = {}\n"
    env = {**os.environ, "PYTHONPATH": f"{HOUSE / 'python'}{os.pathsep}{HOUSE}"}
    command = [sys.executable, "-c", f"{head}{code}\nprint(json.dumps(out))"]
    done = subprocess.run(command, cwd=HOUSE, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


LINK = 'net = fl.Network(duration="50s", warmup="10s", sample="100ms").link("a", "b", name="l", rate="10Mbit/s", delay="20ms"{})\n'
CBR = 'net.flow("f", "a", "b", udp={"header": "0B"}, source=fl.Cbr(rate="2Mbit/s", size="1000B"))\nrun = net.run()\n'


@pytest.mark.long
def test_generated_files_follow(built):
    assert built.dev_says("check").returncode == 0
    schema = (HOUSE / "docs/reference/schema.json").read_text("utf-8")
    classes = (HOUSE / "python/fairlane/_params.py").read_text("utf-8")
    for name, cls in (("hundredth", "Hundredth"), ("brisk", "Brisk"), ("twins", "Twins"), ("tandem", "Tandem")):
        assert f'"{name}"' in schema and re.search(rf"^class {cls}\b", classes, re.M)
    assert '"corrupt"' in schema and "corrupt" in (HOUSE / "python/fairlane/settings.py").read_text("utf-8")
    metrics = (HOUSE / "docs/reference/metrics.md").read_text("utf-8")
    assert "`delay_twice` | s |" in metrics and "`queue_bits` | bit |" in metrics


@pytest.mark.long
def test_the_conformance_suites_run_on_them(built):
    """What runs on every algorithm holds for the toys as well, without being told of them."""
    assert (failed := built.failures(*CONFORMANCE)) == "", failed


@pytest.mark.long
def test_the_queue_drops_every_hundredth(built):
    out = python(LINK.format(', queue=fl.Hundredth(limit="50p")') + CBR + 'out["loss"] = run.value("loss", flow="f").mean')
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
    flow = 'net.flow("f", "a", "b", udp={}, source=fl.Twins())\nrun = net.run()\n'
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
def test_toys_lack_just_what_makes_an_algorithm_trusted(built):
    """Page, check and example of what has a name: tests/test_registered.py asks for those of the toys, and of nothing else."""
    env = {**os.environ, "PYTHONPATH": str(HOUSE / "python")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_registered.py"]
    done = subprocess.run(command, cwd=HOUSE, env=env, capture_output=True, text=True, check=False)
    named = re.findall(r"^E +(?:the|no example uses the) (\w+) `(\w+)`", done.stdout, re.M)
    toys = [("queue", "hundredth"), ("cc", "brisk"), ("source", "twins"), ("topology", "tandem")]
    assert sorted(named) == sorted(toys * 3), done.stdout


# That a line that is left out is named


@contextmanager
def forgotten(*places: Place) -> Iterator[None]:
    """The copy without these lines."""
    originals = {file: ((HOUSE / file).read_text("utf-8"), (HOUSE / file).stat()) for file in {place.file for place in places}}
    try:
        for place in places:
            text = (HOUSE / place.file).read_text("utf-8")
            assert text.count(f"{place.text}\n") == 1
            (HOUSE / place.file).write_text(text.replace(f"{place.text}\n", ""), "utf-8")
        yield
    finally:
        # With its old time: what was built of it is right again.
        for file, (text, was) in originals.items():
            (HOUSE / file).write_text(text, "utf-8")
            os.utime(HOUSE / file, ns=(was.st_atime_ns, was.st_mtime_ns))


def line(kind: str, file: str) -> Place:
    """The line of a toy in a file of ours."""
    (found,) = (place for place in ALL[kind].places if place.file.endswith(f"/{file}"))
    return found


QUEUE_MODULE, QUEUE_EXPORT = line("queue", "law/mod.rs"), line("queue", "src/lib.rs")
CONTROL_MODULE, SOURCE_MODULE = line("control", "cc/mod.rs"), line("source", "source/mod.rs")
ROWS = {kind: line(kind, "registry.rs") for kind in ("queue", "control", "source")}
LISTED = {"impairment": line("impairment", "impair/mod.rs"), "topology": line("topology", "topology/mod.rs")}


def test_every_line_is_left_out_once():
    """But those that are all there is to a thing: a metric, a series, a command."""
    left_out = [QUEUE_MODULE, QUEUE_EXPORT, CONTROL_MODULE, SOURCE_MODULE, *ROWS.values(), *LISTED.values()]
    assert sorted(map(repr, left_out)) == sorted(repr(place) for toy in ALL.values() if toy.files for place in toy.places)


@pytest.mark.long
def test_the_compiler_names_a_module_or_an_export_that_is_missing(built):
    """Two crates that do not know one another fail at once, and so do two lines of one crate."""
    with forgotten(QUEUE_MODULE, CONTROL_MODULE):
        said = cargo("check", "--keep-going", *PACKAGES, fails=True)
    assert "`hundredth`" in said and "`brisk`" in said
    with forgotten(QUEUE_EXPORT, SOURCE_MODULE):
        said = cargo("check", *PACKAGES, fails=True)
    assert "`HundredthParams`" in said and "`twins`" in said


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
