"""Every command and every piece of Python in the tutorial and the README runs; every link leads somewhere."""

from __future__ import annotations

import re
import shlex
import shutil

import pytest

from conftest import ROOT, fairlane

PAGES = [p for p in (ROOT / "docs" / "tutorial.md", ROOT / "README.md") if p.exists()]


def blocks(page, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", page.read_text(), re.M | re.S)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_commands(page, folder):
    for line in "".join(blocks(page, "sh")).splitlines():
        words = shlex.split(line, comments=True)
        if words and words[0].removeprefix(".venv/bin/") == "fairlane" and words[1] in ("run", "explain", "schema", "doctor"):
            done = fairlane(*words[1:], cwd=folder)
            assert done.returncode == 0, (line, done.stderr)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_python(page, folder, capsys):
    scope: dict[str, object] = {}
    for block in blocks(page, "python"):
        exec(compile(block, str(page), "exec"), scope)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_scenarios(page, folder):
    for i, block in enumerate(blocks(page, "toml")):
        if "duration" in block:
            (folder / f"{i}.toml").write_text(block)
            done = fairlane("run", f"{i}.toml", cwd=folder)
            assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]), ids=lambda p: str(p.relative_to(ROOT)))
def test_links(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", page.read_text(), flags=re.S)):
        if not re.match(r"[a-z]+:|#", target):
            assert (page.parent / target.split("#")[0]).exists(), target
