"""Shared fixtures: the command line in a process of its own, and small scenarios."""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Before numpy is imported, here and in the commands that tests start: on small matrices the threads of OpenBLAS mostly wait, and burn
# five times the processor time of one.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import hypothesis
import pytest

import fairlane as fl

CASES = os.environ.get("FAIRLANE_CASES") or "1"
"""Multiplies the number of cases of every random test; in those of Rust, too."""


def cases(default: int) -> int:
    """Returns how many cases a random test has that has `default` of them by default."""
    try:
        factor = float(CASES)
    except ValueError:
        factor = 0.0
    if not 0 < factor < float("inf"):
        raise pytest.UsageError(f"FAIRLANE_CASES={CASES}: expected a positive number, such as 0.1 or 10")
    return max(1, round(default * factor))


def rust_binary(name: str) -> str:
    """Builds a program of the workspace with the features of `cargo test --workspace`; `cargo run -p` has others and compiles all again."""
    cargo = shutil.which("cargo")
    if cargo is None:
        pytest.skip("cargo is not installed")
    command = [cargo, "build", "--quiet", "--workspace", "--bin", name]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=1800, check=False)
    assert done.returncode == 0, done.stderr
    return str(ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "debug" / name)


# No test depends on how fast the machine is.
hypothesis.settings.register_profile("default", deadline=None, max_examples=cases(100))
hypothesis.settings.load_profile("default")

TERMINAL = {"COLUMNS": "140", "NO_COLOR": "1"}
"""A terminal on which results look alike everywhere."""
ROOT = Path(__file__).resolve().parent.parent

DUMBBELL = """
name = "small dumbbell"
duration = "5s"
warmup = "1s"

[topology.dumbbell]
pairs = 3
access = { rate = "100Mbit/s", delay = "1ms" }
bottleneck = { rate = "5Mbit/s", delay = "10ms", queue.droptail = { limit = "20p" } }

[flows.tcp]
from = "s{i}"
to = "d{i}"
count = 2
stagger = "100ms"
tcp = "newreno"

[flows.udp]
from = "s2"
to = "d2"
udp = {}
source.cbr = { rate = "1Mbit/s", size = "1000B", jitter = 0.5 }
"""


def started(*args: str, cwd: Path | None = None, timeout: float = 120, **options) -> subprocess.CompletedProcess[str]:
    """Runs a command line in a process of its own and waits for it."""
    command = [sys.executable, "-m", "fairlane", *args]
    env = {**os.environ, **TERMINAL}
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=timeout, env=env, check=False, **options)


def fairlane(*args: str, cwd: Path | None = None, timeout: float = 120, **options) -> subprocess.CompletedProcess[str]:
    """Runs a command line in this process: as `fairlane`, without the second that an interpreter and its libraries take to start.

    For commands whose results are looked at; those that are killed, read a pipe or load code of users have a process.
    """
    if options or any(a.startswith("--plugin") for a in args):  # a plug-in would stay registered in this process
        return started(*args, cwd=cwd, timeout=timeout, **options)
    from fairlane.cli import invoke

    def late(*_: object) -> None:
        raise subprocess.TimeoutExpired(["fairlane", *args], timeout)

    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2)]
    with pytest.MonkeyPatch.context() as patch:
        for key, value in TERMINAL.items():
            patch.setenv(key, value)
        for name, stream in zip(("stdout", "stderr"), streams, strict=True):
            patch.setattr(sys, name, stream)
        patch.chdir(cwd or Path.cwd())
        before = signal.signal(signal.SIGALRM, late)
        signal.setitimer(signal.ITIMER_REAL, timeout)
        try:
            code = invoke(list(args))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
    shown = []
    for stream in streams:
        stream.flush()
        shown.append(stream.buffer.getvalue().decode().replace(os.linesep, "\n"))
    return subprocess.CompletedProcess(["fairlane", *args], code, *shown)


def shown_on(terminal: int) -> bytes:
    """All that was written to a pseudo-terminal until its last writer was gone; closes it."""
    shown = b""
    try:
        while chunk := os.read(terminal, 65536):
            shown += chunk
    except OSError:  # how Linux tells the end
        pass
    os.close(terminal)
    return shown


@pytest.fixture
def dumbbell(tmp_path: Path) -> Path:
    path = tmp_path / "dumbbell.toml"
    path.write_text(DUMBBELL)
    return path


@pytest.fixture(scope="module")
def kept_runs() -> Iterator[None]:
    """Runs of studies and papers in this process are those of `run_cache`, if they were made before. For fixtures that run for long."""
    from fairlane.study import one_run
    from run_cache import RunCache

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(one_run, "run_task", RunCache())
        yield


def pytest_sessionfinish(session: pytest.Session) -> None:
    """The last of all processes removes runs that are kept for too long."""
    if not hasattr(session.config, "workerinput") and (ROOT / "target" / "test-runs").is_dir():
        from run_cache import RunCache

        RunCache().trim()


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def result() -> fl.Result:
    """A result for tests of plots: made once."""
    import plot_cases

    return plot_cases.result()


@pytest.fixture(scope="session")
def files() -> fl.Result:
    """Flows that end, of tests of pictures."""
    import plot_cases

    return plot_cases.files()


@pytest.fixture(scope="session")
def events() -> list[dict[str, Any]]:
    """The events of `result`, one after the other."""
    import plot_cases

    return plot_cases.events()


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """Compiles C source against the header of the package."""
    cc = shutil.which("cc")
    if cc is None:
        pytest.skip("there is no C compiler")

    def compile_(source: str | Path, name: str) -> Path:
        folder = tmp_path_factory.mktemp("c")
        file = source if isinstance(source, Path) else folder / "source.c"
        if isinstance(source, str):
            file.write_text(source, "utf-8")
        library = folder / f"lib{name}.so"
        command = [cc, "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-shared", "-fPIC", f"-I{fl.cc_include()}"]
        done = subprocess.run([*command, str(file), "-o", str(library), "-lm"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return library

    return compile_
