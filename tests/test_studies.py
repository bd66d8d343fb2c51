"""Studies are plug-ins: those that come with fairlane use its public API alone, and travel in the wheel with all their files."""

from __future__ import annotations

import ast
import doctest
import fnmatch
import re
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import fairlane
from conftest import ROOT
from fairlane import papers
from fairlane.errors import FolderError, UnknownNameError
from fairlane.papers.runner import Job, Runner
from fairlane.study.executors import Processes
from paper_modules import module

STUDIES = sorted((ROOT / "papers").glob("*/study.py"))
CODE = sorted([*ROOT.glob("papers/*/*.py"), *ROOT.glob("examples/papers/*/*.py"), *ROOT.glob("python/fairlane/papers/skeleton/*.py")])
LIBRARIES = {"numpy", "scipy", "polars", "matplotlib"}
OURS = ("fairlane", "fairlane.papers", "fairlane.stats", "fairlane.tuning")


def ident(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def test_those_in_papers_come_with_fairlane():
    assert papers.keys() == [p.parent.name for p in STUDIES]
    assert {"nowak2009", "ramachendra2014", "sarma2013", "sarpkaya2025", "syla2022", "yang2001"} <= set(papers.keys())
    for key in papers.keys():  # noqa: SIM118
        assert papers.load(key).key == key
        assert papers.load(key).folder.resolve() == ROOT / "papers" / key


def imported(file: Path) -> list[tuple[int, str, str]]:
    """Level, module and name of everything that a file imports."""
    found = []
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found += [(0, a.name, "") for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [(node.level, node.module or "", a.name) for a in node.names]
    return found


@pytest.mark.parametrize("file", CODE, ids=ident)
def test_a_study_uses_the_public_api_alone(file):
    for level, name, what in imported(file):
        if level:
            assert level == 1 and (file.parent / f"{name or what}.py").is_file(), (name, what)
        elif name.split(".")[0] == "fairlane":
            assert name in OURS, name
            assert not what or what in import_module(name).__all__, (name, what)
        else:
            assert name.split(".")[0] in sys.stdlib_module_names | LIBRARIES, name
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):  # nor do they reach through a public object for a private name
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in {*papers.__all__, "fairlane"}:
            assert not node.attr.startswith("_"), ast.unparse(node)


def test_every_public_name_exists():
    for name in papers.__all__:
        assert getattr(papers, name) is not None
    with pytest.raises(AttributeError):
        _ = papers.nothing


def test_the_reference_names_all_that_is_public():
    """`__all__`, and what a study defines, overrides, sets and uses of `Paper`."""
    found = re.findall(r"`(?:run\.)?(\w+)[`(\[]", (ROOT / "docs" / "reference" / "papers.md").read_text("utf-8"))
    public = {n for n in {*vars(papers.Paper), *papers.Paper.__annotations__} if not n.startswith("_")}
    assert {*papers.__all__, *public} <= set(found)


@pytest.mark.parametrize("study", STUDIES, ids=ident)
def test_the_examples_in_their_code_are_right(study):
    for file in sorted(study.parent.glob("*.py")):
        assert doctest.testmod(module(study.parent.name, file.stem), optionflags=doctest.ELLIPSIS).failed == 0


def test_the_wheel_has_every_file():
    """The globs of pyproject.toml match all files of the studies, as seen through the link."""
    (include,) = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["maturin"]["include"]
    assert include["format"] == ["wheel", "sdist"]
    link, globs = include["path"].split("/studies/")
    assert (ROOT / link / "studies").resolve() == ROOT / "papers"
    files = [p.relative_to(ROOT / "papers") for p in (ROOT / "papers").rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    files.remove(Path("README.md"))
    assert len(files) > 50
    for f in files:
        depth = globs.split("/")
        assert len(f.parts) == len(depth) and all(fnmatch.fnmatch(p, g) for p, g in zip(f.parts, depth, strict=True)), f
    assert not fnmatch.fnmatch("__pycache__", globs.split("/")[-1])


def test_a_checkout_without_links_finds_them_too(tmp_path, monkeypatch):
    """A copy as git makes it without symbolic links: a file that holds the target."""
    from fairlane.papers import folders

    package = tmp_path / "python" / "fairlane" / "papers"
    package.mkdir(parents=True)
    (package / "studies").write_text("../../../papers")
    (tmp_path / "papers" / "a2000").mkdir(parents=True)
    (tmp_path / "papers" / "a2000" / "paper.toml").write_text('title = "A"')
    monkeypatch.setattr(folders, "__file__", str(package / "folders.py"))
    assert folders.keys() == ["a2000"]


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A user-defined study in the current folder."""
    from fairlane.papers.template import new_paper

    monkeypatch.chdir(tmp_path)
    folder = new_paper("mine1999")
    scenario = folder / "scenario.toml"
    scenario.write_text(scenario.read_text().replace('duration = "30s"', 'duration = "2s"').replace('warmup = "5s"', 'warmup = "1s"'))
    return folder


def test_names_are_keys_or_folders(mine, tmp_path):
    assert papers.load("mine1999").key == papers.load("./mine1999").key == papers.load(tmp_path / "mine1999").key == "mine1999"
    (tmp_path / "sarma2013").mkdir()  # the key of one of ours is that one, whatever lies here
    assert papers.load("sarma2013").folder == papers.shipped() / "sarma2013"
    with pytest.raises(UnknownNameError, match="sarma2013"):
        papers.load("sarma2014")
    with pytest.raises(FolderError, match="folder not found"):
        papers.load("./mine2000")
    with pytest.raises(FolderError, match="is a file"):
        papers.load("mine1999/study.py")


def test_folders_of_one_name_do_not_meet(mine, tmp_path):
    """Each has modules of its own, and a change of a file is seen at once."""
    for n, name in enumerate(("a", "b")):
        other = tmp_path / name / "mine1999"
        other.mkdir(parents=True)
        for file in mine.iterdir():
            text = file.read_text().replace("SENDERS = (2, 5, 10)", "from .numbers import SENDERS")
            (other / file.name).write_text(text)
        (other / "numbers.py").write_text(f"SENDERS = ({n + 3},)\n")
    counts = [[c["senders"] for c in papers.load(tmp_path / x / "mine1999").combinations()] for x in "ab"]
    assert counts == [["3", "3"], ["4", "4"]]
    (tmp_path / "a" / "mine1999" / "numbers.py").write_text("SENDERS = (7,)\n")
    assert [c["senders"] for c in papers.load(tmp_path / "a" / "mine1999").combinations()] == ["7", "7"]
    assert type(papers.load(tmp_path / "b" / "mine1999")) is type(papers.load(tmp_path / "b" / "mine1999"))


def test_a_folder_that_cannot_be_written_is_read(mine, monkeypatch):
    """Nothing is left in it where it could be written, either (root may)."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    mine.chmod(0o555)
    try:
        r = fairlane.reproduce("mine1999", quick=True, seeds=[1])
    finally:
        mine.chmod(0o755)
    assert r.page.is_file()
    assert not list(mine.rglob("*.pyc"))


def test_runs_may_be_those_of_other_processes(mine, tmp_path):
    """Workers get scenarios, never code of a study; the numbers do not depend on who ran them."""
    paper = papers.load(mine)
    jobs = [Job(c, s) for c in paper.combinations()[:2] for s in (1, 2)]
    with Runner(paper, tmp_path / "here") as here, Runner(paper, tmp_path / "there", lambda: Processes(2)) as there:
        assert here.run(jobs) == there.run(jobs)


def test_all_are_those_that_come_with_fairlane(mine, monkeypatch):
    from fairlane.papers import all_papers

    asked = []
    monkeypatch.setattr(all_papers, "reproduce_papers", lambda found, **_: asked.extend(p.key for p in found))
    papers.reproduce_all(quick=True)
    assert asked == papers.keys()
