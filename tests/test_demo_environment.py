"""Every command of README, first-hour and tutorial works in the environment that `make demo` makes: the extra `all` and nothing more."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from conftest import ROOT
from page_commands import ELSEWHERE, blocks, commands, ident

PAGES = [ROOT / "README.md", ROOT / "docs" / "first-hour.md", ROOT / "docs" / "tutorial.md"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = re.findall(r"maturin develop --release .*--extras (\S+)", (ROOT / "Makefile").read_text("utf-8"))


def needed(wanted: list[str]) -> set[str]:
    """The distributions that these requirements install, with those that they require in turn."""
    found: set[str] = set()
    left = [(Requirement(r), "") for r in wanted]
    while left:
        requirement, extra = left.pop()
        name = canonicalize_name(requirement.name)
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
            continue
        for own in requirement.extras or {""}:
            if (mark := f"{name}[{own}]") in found:
                continue
            found |= {name, mark}
            try:
                left += [(Requirement(r), own) for r in metadata.requires(name) or ()]
            except metadata.PackageNotFoundError:
                continue
    return {n for n in found if "[" not in n}


def absent() -> list[str]:
    """The modules that are here for tests and lints only."""
    (extra,) = EXTRAS
    there = needed([*PROJECT["dependencies"], *PROJECT["optional-dependencies"][extra], "maturin", "pip", "setuptools"])
    modules = metadata.packages_distributions()
    return sorted(m for m, of in modules.items() if m != "fairlane" and not {canonicalize_name(d) for d in of} & there)


HIDE = """
import runpy, sys

class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in GONE:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

GONE = set(sys.argv.pop(1).split(","))
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name in GONE else find(name, package)
sys.meta_path.insert(0, Nothing())
sys.argv.pop(0)
"""


def run(code: str, *args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs Python without the modules that `make demo` does not install."""
    env = {**os.environ, "MPLBACKEND": "Agg", "COLUMNS": "80"}
    command = [sys.executable, "-c", HIDE + code, ",".join(absent()), *args]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=3600)


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


def test_what_only_tests_need_is_hidden():
    hidden = absent()
    assert {"pytest", "hypothesis", "jsonschema"} <= set(hidden)
    assert not {"optuna", "pyarrow", "aiohttp", "polars", "click", "numpy", "matplotlib"} & set(hidden)


@pytest.mark.parametrize("page", PAGES, ids=ident)
def test_every_command_of_a_page(page, folder):
    done = run("runpy.run_path(sys.argv[0], run_name='__main__')", str(ROOT / "tests" / "page_commands.py"), str(page), cwd=folder)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


def costly() -> list[str]:
    """The commands of the pages that take minutes."""
    seen = [words for page in PAGES for language, block, _ in blocks(page) if language in ("", "sh") for words in commands(block)]
    known = [k.split() for k in ELSEWHERE if k.startswith("fairlane ")]
    return list(dict.fromkeys(shlex.join(w) for w in seen if any(w[: len(k)] == k for k in known)))


def test_the_costly_commands_are_those_of_the_pages():
    assert costly() == ["fairlane reproduce nowak2009", "fairlane reproduce all", "fairlane bench"]


@pytest.mark.long
@pytest.mark.parametrize("command", costly())
def test_a_costly_command_of_a_page(command, folder):
    done = run("from fairlane.cli import main\nmain()", "fairlane", *command.split()[1:], cwd=folder)
    assert done.returncode == 0, done.stderr[-4000:]
