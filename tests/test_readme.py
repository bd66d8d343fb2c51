"""README.md: what it states is what docs/validation/figures.md has, what the program counts, and what its scenario does."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter

import fairlane as fl
from conftest import ROOT
from fairlane.base.reference import registry
from fairlane.cli import invoke
from fairlane.cli.new import text_of

README = (ROOT / "README.md").read_text("utf-8")
PROSE = " ".join(re.sub(r"^```.*?^```$", "", README, flags=re.M | re.S).split())
SECTION = " ".join(README.split("## What has been measured")[1].split("\n## ")[0].split())
FIGURES = (ROOT / "docs" / "validation" / "figures.md").read_text("utf-8")
NAMES = r"ns-[23]\b|\b100 Gbit/s"
"""Numbers of a section of figures that are names, or settings of what was measured."""


def rows() -> dict[str, tuple[str, str]]:
    """The words of the README and the date of each figure."""
    table = FIGURES.split("\n## ")[0]
    found = (line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| "))
    return {figure: (words, date) for figure, words, date, *_ in found if figure != "figure"}


def test_the_readme_says_what_the_table_says():
    for figure, (words, date) in rows().items():
        assert words in (PROSE if figure != "size" else README), figure
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", date), figure


def test_no_figure_is_missing_in_the_table():
    left = SECTION
    for words, _ in rows().values():
        left = left.replace(words, "")
    assert not re.findall(r"\d", re.sub(NAMES, "", left)), left


def test_counts():
    # Other tests of this process register plug-ins.
    code = f"import json; from {registry.__module__} import registry; print(json.dumps([e['kind'] for e in registry()]))"
    kinds = Counter(json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout))
    found = rows()
    for kind, figure in (("cc", "congestion controls"), ("queue", "queue disciplines"), ("source", "traffic sources")):
        assert found[figure][0] == f"{kinds[kind]} {figure}"
    assert len([p for p in (ROOT / "examples" / "lessons").iterdir() if (p / "README.md").exists()]) == 8


def test_the_first_minute(tmp_path):
    file = tmp_path / "home.toml"
    file.write_text(text_of("home"), "utf-8")
    before, after = (fl.run(file, sets=sets).value("delay_mean", flow="call") for sets in ({}, {"links.line.queue": "fq_codel"}))
    assert rows()["delay of the call in `home`"][0] == f"{before.mean * 1e3:.0f} to {after.mean * 1e3:.0f} ms"


def test_figures_of_other_pages():
    found = rows()
    scripts = re.search(r"\| all \| (\d+) \| (\d+) \|", (ROOT / "docs" / "guides" / "packet-scripts.md").read_text("utf-8"))
    assert scripts is not None and found["packetdrill"][0].startswith(f"{scripts[2]} of {scripts[1]} ")


def test_it_says_what_it_is_at_once():
    assert "simulator" in README.splitlines()[2]
    about = re.search(r'^description = "(.*)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.M)
    assert about is not None and f"**{about[1]}.**" == README.splitlines()[2]


def test_its_mistake(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    scenario, mistake = re.findall(r"^```toml\n(.*?)^```$", README, re.M | re.S), re.findall(r"^```\n(error.*?)^```$", README, re.M | re.S)
    (tmp_path / "bottleneck.toml").write_text(scenario[0].replace("rate =", "rat =", 1), "utf-8")
    assert invoke(["run", "bottleneck.toml"]) == 2
    assert capsys.readouterr().err == mistake[0]
