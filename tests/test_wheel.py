"""The installed package: a wheel in an environment of its own does everything, far from the checkout; the source archive is whole.

`FAIRLANE_WHEEL=file` tests a wheel that is there already; else one is made of what `make build` has compiled.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import typed_pages
from conftest import DUMBBELL, ROOT
from fairlane import papers

pytestmark = pytest.mark.long

KEYS = papers.keys()
MATURIN = shutil.which("maturin", path=str(Path(sys.executable).parent)) or shutil.which("maturin")


def made(kind: str, folder: Path) -> Path:
    """A file made by maturin: of what `make build` has compiled, so nothing is compiled again."""
    if MATURIN is None:
        pytest.skip("maturin is not installed")
    command = [MATURIN, kind, "--out", str(folder), *(["--release"] if kind == "build" else [])]
    subprocess.run(command, cwd=ROOT, check=True, timeout=1800, capture_output=True)
    (file,) = folder.iterdir()
    return file


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    ready = os.environ.get("FAIRLANE_WHEEL")
    return Path(ready).resolve() if ready else made("build", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The bin folder of a new environment with the wheel. Libraries are those of the tests, which know no checkout from there."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, with_pip=False)
    subprocess.run([sys.executable, "-m", "pip", "--python", home, "install", "--quiet", "--no-deps", "--no-index", wheel], check=True)
    packages = Path(sysconfig.get_path("purelib", "venv", vars={"base": str(home)}))
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return home / installed_bin()


def run(installed: Path, folder: Path, *words: str, code: int = 0) -> str:
    """Returns the output of a command of the installed package, in a folder of its own and without the checkout."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV", "FAIRLANE"))}
    done = subprocess.run([installed / words[0], *words[1:]], cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + (done.stderr if code else "")


def test_the_wheel_is_for_every_python_and_has_all_files(wheel):
    assert re.fullmatch(r"fairlane-[\d.]+-cp311-abi3-\w+(\.\w+)*\.whl", wheel.name)
    names = set(zipfile.ZipFile(wheel).namelist())
    for file in subprocess.run(["git", "ls-files", "python/fairlane"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split():
        if (ROOT / file).is_file():
            assert file.removeprefix("python/") in names, file
    for key in KEYS:
        assert f"fairlane/papers/studies/{key}/study.py" in names
    assert not [n for n in names if "__pycache__" in n or n.endswith((".rs", ".pdb"))]
    (metadata,) = [n for n in names if n.endswith(".dist-info/METADATA")]
    lines = zipfile.ZipFile(wheel).read(metadata).decode("utf-8").splitlines()
    assert {line.partition(":")[0] for line in lines if ":" in line} >= {
        "Author",
        "Classifier",
        "Keywords",
        "Summary",
        "License-Expression",
    }
    assert sum(i.file_size for i in zipfile.ZipFile(wheel).infolist()) < 40e6


def test_the_package_is_that_of_the_wheel(installed, tmp_path):
    where = run(installed, tmp_path, "python", "-c", "import fairlane; print(fairlane.__file__, fairlane.__version__)")
    assert str(installed.parent) in where and str(ROOT) not in where
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert run(installed, tmp_path, "fairlane", "--version") == f"fairlane {version}\n"
    assert "ok    trial run" in run(installed, tmp_path, "fairlane", "doctor")


def test_checkers_accept_the_code_of_readme_tutorials_and_notebooks(installed, tmp_path):
    """mypy and pyright, strict, with the types that the installed package has."""
    files = typed_pages.written(tmp_path)
    assert len(files) == 9
    python = installed / "python"
    (tmp_path / "mypy.ini").write_text("[mypy]\nstrict = true\n")
    for command in (
        [sys.executable, "-m", "mypy", "--python-executable", python, "--cache-dir", ROOT / ".mypy_cache" / "wheel", *files],
        [sys.executable, "-m", "pyright", "--project", tmp_path, "--pythonpath", python],
    ):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV", "MYPY"))}
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=900, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_names_never_fail_without_any_library(wheel, tmp_path):
    """In a bare environment: star import, `hasattr`, `getmembers` and tab completion; a call names the extra."""
    venv.create(tmp_path / "bare", with_pip=False)
    command = [sys.executable, "-m", "pip", "--python", tmp_path / "bare", "install", "--quiet", "--no-deps", "--no-index", wheel]
    subprocess.run(command, check=True)
    code = """
import inspect, rlcompleter, warnings
from fairlane import *
import fairlane as fl
for module in (fl, fl.stats, fl.papers, fl.queues, fl.settings, fl.units, fl.tcp):
    assert all(hasattr(module, name) for name in dir(module))
    assert len(inspect.getmembers(module)) > 2
complete = rlcompleter.Completer({"fl": fl}).complete
assert complete("fl.Stu", 0).startswith("fl.Study") and complete("fl.Study.from", 0) is None
print(fl.Network(duration="2s").link("a", "b", rate="1Mbit/s", delay="1ms").flow("f", "a", "b", tcp={}).run().value("goodput", flow="f"))
for call in (fl.compare, fl.Study, fl.Study.from_file, fl.Tuning, fl.load_study, fl.reproduce, fl.report, fl.stats.paired, fl.papers.keys):
    try:
        call("x")
    except ImportError as e:
        assert isinstance(e, fl.MissingError) and "pip install 'fairlane[" in str(e)
    else:
        raise AssertionError(call)
"""
    (tmp_path / "names.py").write_text(code)
    assert run(tmp_path / "bare" / installed_bin(), tmp_path, "python", "names.py").endswith("kbit/s (1 run)\n")


def installed_bin() -> str:
    return "Scripts" if os.name == "nt" else "bin"


def test_first_steps(installed, tmp_path):
    """A scenario, its figures, its folder, its packets, its page, and a mistake that has its answer."""
    run(installed, tmp_path, "fairlane", "new", "home")
    run(
        installed,
        tmp_path,
        "fairlane",
        "run",
        "home.toml",
        "--plot",
        "queue.svg",
        "--out",
        "out",
        "--pcap",
        "line",
        "--set",
        "duration=10s",
    )
    assert (tmp_path / "queue.svg").read_text("utf-8").lstrip().startswith("<?xml")
    assert {"scenario.toml", "manifest.json", "flows.parquet"} <= {p.name for p in (tmp_path / "out").iterdir()}
    assert next((tmp_path / "out").glob("line*.pcapng")).stat().st_size > 10_000
    run(installed, tmp_path, "fairlane", "report", "out", "-o", "page.html")
    run(installed, tmp_path, "fairlane", "plot", "home.toml", "queue-events", "-o", "events.pdf", "--set", "duration=10s")
    assert "</html>" in (tmp_path / "page.html").read_text("utf-8") and (tmp_path / "events.pdf").read_bytes().startswith(b"%PDF")
    again = json.loads(run(installed, tmp_path, "fairlane", "run", "out/scenario.toml", "--json"))
    assert again["fingerprints"] == [r["fingerprint"] for r in json.loads((tmp_path / "out" / "manifest.json").read_text())["runs"]]
    wrong = run(installed, tmp_path, "fairlane", "run", "home.toml", "--set", "links.lien.rate=5Mbit/s", code=2)
    assert "did you mean `line`?" in wrong


def test_a_comparison_a_study_and_their_pages(installed, tmp_path):
    (tmp_path / "d.toml").write_text(DUMBBELL)
    run(
        installed,
        tmp_path,
        "fairlane",
        "compare",
        "--scenario",
        "d.toml",
        "--queues",
        "droptail,red",
        "--seeds",
        "1..2",
        "--page",
        "c.html",
    )
    assert "</html>" in (tmp_path / "c.html").read_text("utf-8")
    (tmp_path / "s.toml").write_text(
        'name = "s"\nscenario = "d.toml"\nseeds = "1..2"\nmetrics = ["network.jain"]\n'
        '[factors]\n"topology.dumbbell.bottleneck.queue" = ["droptail", "red"]\n'
    )
    run(installed, tmp_path, "fairlane", "study", "s.toml")
    assert "</html>" in (tmp_path / "results" / "s" / "index.html").read_text("utf-8")
    run(installed, tmp_path, "fairlane", "verify", "results/s")


def test_a_published_study(installed, tmp_path):
    run(installed, tmp_path, "fairlane", "reproduce", "sarma2013", "--quick", "--only", "table3")
    assert "</html>" in (tmp_path / "results" / "sarma2013" / "table3.html").read_text("utf-8")


def test_plug_ins_and_scripts(installed, tmp_path):
    run(
        installed,
        tmp_path,
        "fairlane",
        "run",
        ROOT / "examples/own_queue/scenario.toml",
        "--plugin",
        ROOT / "examples/own_queue/queue.py",
        "--quiet",
    )
    output = run(installed, tmp_path, "fairlane", "script").splitlines()
    assert len(output) > 20 and all(line.startswith("ok ") for line in output if line.endswith(".pkt"))
    include = run(installed, tmp_path, "python", "-c", "import fairlane; print(fairlane.cc_include())").strip()
    assert (Path(include) / "fairlane_cc.h").is_file()


def test_the_source_archive_has_what_it_is_built_of(tmp_path):
    """All crates that the workspace names and all that they read when they are compiled; building it is a step of RELEASING.md."""
    with tarfile.open(made("sdist", tmp_path)) as archive:
        names = {n.partition("/")[2] for n in archive.getnames()}
    for file in subprocess.run(
        ["git", "ls-files", "crates", "python/fairlane"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split():
        crate = file.split("/")[1]
        if file.startswith("python/") or (crate not in ("dev", "testkit") and "/src/" in file):
            assert not (ROOT / file).is_file() or file in names, file
    assert {"Cargo.lock", "Cargo.toml", "pyproject.toml", "PKG-INFO", "docs/package-index.md"} <= names
    assert {f"papers/{k}/study.py" for k in KEYS} <= names or {f"python/fairlane/papers/studies/{k}/study.py" for k in KEYS} <= names
