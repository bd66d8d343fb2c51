"""Every example of the README, the tutorial and the guides runs, in the order of the page; every link and figure of every page exists."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from conftest import ROOT
from fairlane.cli import invoke

PAGES = [ROOT / "README.md", ROOT / "docs" / "first-hour.md", ROOT / "docs" / "tutorial.md", *sorted(ROOT.glob("docs/guides/*.md"))]
ALL_PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
MODELS = sorted(p for p in ROOT.glob("docs/models/*.md") if p.stem != "README")

ELSEWHERE = {
    "wireshark": "needs a display",
    "flent": "measures real hosts",
    "awk": "tests/test_ns2_trace.py",
    "make": "builds what the tests run on",
    "pip": "needs an index of packages",
    "eval": "for the shell: tests/test_first_minute.py asks for completions",
    "cargo": "builds Rust: shown by the Rust tests",
    "python": "tests/test_examples.py runs the scripts",
    "fairlane reproduce all": "tests/test_papers.py",
    "fairlane reproduce nowak2009": "tests/test_paper_nowak2009.py",
    "fairlane bench": "tests/test_cli.py",
    "fairlane tune papers/nowak2009/tune.toml": "tests/test_tune.py, with a smaller budget",
}
"""Commands that a page may show and that are not run here, and why."""
NOT_CODE = {"", "text", "rust", "json", "tcl", "cpp", "bash"}
"""Languages of blocks that are not run here: Rust is compiled by hand when the page changes, tests/test_coming_from.py runs ns-2 and ns-3,
and tests/test_audiences.py the commands of a router (`bash`)."""
HEADINGS = ["What it is", "Source", "Deviations and why", "Parameters", "What it does not model", "Validation"]


def ident(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[tuple[str, str, int]]:
    """Language, text and first line of each fenced block."""
    text = page.read_text("utf-8")
    found = re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)
    return [(m[1], m[2], text[: m.start()].count("\n") + 2) for m in found]


def commands(block: str) -> list[list[str]]:
    """The commands of a block as words, comments left out."""
    lines = [shlex.split(line, comments=True) for line in block.splitlines()]
    return [[words[0].removeprefix(".venv/bin/"), *words[1:]] for words in lines if words]


def scenario_name(page: Path, block: str, line: int) -> str:
    """The name of a scenario shown on a page: from its first line, or the first file that a command after it asks for."""
    if m := re.match(r"# (?:study |tune )?(\S+\.toml)\n", block):
        return m[1]
    after = "\n".join(page.read_text("utf-8").splitlines()[line:])
    m = re.search(r"fairlane run (\w+\.toml)", after)
    return m[1] if m else f"scenario-{line}.toml"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_command(words: list[str], place: str) -> None:
    if any(words[: len(known.split())] == known.split() for known in ELSEWHERE):
        return
    if words[0] == "tshark":
        if shutil.which("tshark"):
            subprocess.run(words, check=True, capture_output=True)
        return
    assert words[0] == "fairlane", f"{place}: {words[0]} is neither run nor listed in ELSEWHERE"
    # In this process: most of the time of a short command is the start of an interpreter.
    assert invoke(words[1:]) == 0, f"{place}: {shlex.join(words)}"


@pytest.mark.parametrize("page", PAGES, ids=ident)
def test_examples(page, folder, capsys):
    scope: dict[str, object] = {"__name__": "docs"}
    ran = 0
    for language, block, line in blocks(page):
        place = f"{ident(page)}:{line}"
        if language == "python":
            exec(compile("\n" * (line - 1) + block, str(page), "exec"), scope)
        elif language == "toml":
            name = scenario_name(page, block, line)
            (folder / name).write_text(block, "utf-8")
            kind = re.match(r"# (study|tune)\b", block)
            run_command(["fairlane", kind[1] if kind else "run", name, "--quiet"], place)
        elif language in ("sh", "console"):
            for words in commands(block):
                run_command(words, place)
        else:
            assert language in NOT_CODE, f"{place}: a block in {language!r} is neither run nor listed"
            # The README shows its commands without a language.
            for words in commands(block) if block.startswith("fairlane ") else ():
                run_command(words, place)
            ran -= 1
        ran += 1
    assert ran > 0 or page.stem in ("own-queue", "own-congestion-control"), "no example was found"


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
