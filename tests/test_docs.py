"""Every example of the guides runs, in the order of the page; every link and figure of every page exists."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import fairlane as fl
from conftest import ROOT
from page_commands import blocks, ident, run_page

PAGES = [ROOT / "AGENTS.md", *sorted(ROOT.glob("docs/guides/*.md"))]
"""tests/test_demo_environment.py runs the README and the two first pages."""
ALL_PAGES = sorted([*ROOT.glob("*.md"), ROOT / "llms.txt", *ROOT.glob("docs/**/*.md")])
MODELS = sorted(p for p in ROOT.glob("docs/models/*.md") if p.stem != "README")
HEADINGS = ["What it is", "Source", "Deviations and why", "Parameters", "What it does not model", "Validation"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=ident)
def test_examples(page, folder, capsys):
    assert run_page(page, folder) > 0 or page.stem in ("own-queue", "own-congestion-control"), "no example was found"


def test_blocks_of_the_page_on_statistics_print_what_it_shows(capsys):
    page = ROOT / "docs" / "background" / "statistics.md"
    scope: dict[str, object] = {"__name__": "docs"}
    found = [b for b in blocks(page) if b[0] in ("python", "text")]
    assert len(found) >= 12 and [b[0] for b in found] == ["python", "text"] * (len(found) // 2)
    for (_, code, line), (_, output, _) in zip(found[::2], found[1::2], strict=True):
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), scope)
        assert capsys.readouterr().out == output


@pytest.mark.parametrize("page", ALL_PAGES, ids=ident)
def test_links(page):
    prose = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), target
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), target


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", MODELS, ids=ident)
def test_model_pages_have_their_headings_and_one_plot(page):
    text = page.read_text("utf-8")
    titles = re.findall(r"^## (.+)$", text, re.M)
    assert [t for t in titles if t in HEADINGS] == HEADINGS
    assert {"Equations", "State machine"} & set(titles)
    validation = text.split("\n## Validation\n")[1]
    assert len(re.findall(r"!\[[^\]]+\]\(img/", validation)) == 1


@pytest.mark.parametrize("page", MODELS, ids=ident)
def test_the_checks_that_a_model_page_names_exist(page):
    code = "\n".join(p.read_text("utf-8") for top in ("crates", "tests") for e in ("rs", "py") for p in (ROOT / top).rglob(f"*.{e}"))
    validation = page.read_text("utf-8").split("\n## Validation\n")[1]
    for name in re.findall(r"`([a-z][a-z0-9]*(?:_[a-z0-9]+)+)`", validation):
        assert re.search(rf"\b{name}\b", code), name
    for path in re.findall(r"`((?:crates|tests)/[\w/.]+)`", validation):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("image", sorted(ROOT.glob("docs/**/*.svg")), ids=ident)
def test_figures_are_small_and_whole(image):
    assert image.stat().st_size < 150_000
    assert ET.fromstring(image.read_text("utf-8")).tag.endswith("svg")


def test_every_figure_is_in_the_table():
    models = ROOT / "docs" / "models"
    shown = subprocess.run(
        [sys.executable, "-c", "import plots; print(*sorted(plots.FIGURES)); print(all(callable(f.draw) for f in plots.FIGURES.values()))"],
        cwd=models, env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    names, drawable = shown.stdout.splitlines()
    assert names.split() == sorted(p.stem for p in (models / "img").glob("*.svg"))
    assert drawable == "True"


def test_the_page_for_programs_has_ten_examples_without_a_warning(folder, recwarn):
    """A model copies what it is shown: the examples are whole, of different kinds, and none of them warns."""
    examples = [(block, line) for language, block, line in blocks(ROOT / "AGENTS.md") if language == "toml"]
    assert len(examples) == 10 and sum(block.startswith("# study ") for block, _ in examples) == 1
    used = set()
    for block, _ in examples:
        if not block.startswith("# study "):
            result = fl.Network.from_toml(block).run(seeds="1..2")
            assert result.warnings == [], block
            used |= {kind for kind in ("topology", "wireless", "at") if result.scenario.get(kind)}
    assert used == {"topology", "wireless", "at"}


def test_llms_txt_has_the_form_of_llms_txt():
    """llmstxt.org: a title, a summary as a quotation, and lists of links below headings."""
    lines = (ROOT / "llms.txt").read_text("utf-8").splitlines()
    assert lines[0] == "# fairlane" and lines[2].startswith("> ")
    listed = [line for line in lines[lines.index("## Write a scenario") :] if line]
    assert all(re.match(r"## |- \[[^\]]+\]\([^)]+\)(: .+)?$", line) for line in listed)
