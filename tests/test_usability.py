"""docs/background/usability.md: each task takes at most three commands, which work in an empty folder and give what the page names."""

from __future__ import annotations

import re

import pytest

from conftest import ROOT
from fairlane.cli import invoke
from fairlane.cli.new import text_of
from page_commands import commands

PAGE = (ROOT / "docs" / "background" / "usability.md").read_text("utf-8")
TASKS = re.findall(r"^## (\d+)\. (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)


def typed(body: str) -> list[list[str]]:
    """The commands of a task."""
    return [words for block in re.findall(r"^```sh\n(.*?)^```$", body, re.M | re.S) for words in commands(block)]


def test_the_table_lists_the_tasks():
    rows = re.findall(r"^\| \[.+?\]\(#(\d+)-(\S+)\) \| (\d) \| (\d+) s \|$", PAGE, re.M)
    assert [int(n) for n, *_ in rows] == [int(n) for n, *_ in TASKS] == list(range(1, 11))
    for (_, anchor, count, seconds), (_, title, body) in zip(rows, TASKS, strict=True):
        assert anchor == re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        assert int(count) == len(typed(body)) <= 3 and int(seconds) < 300


@pytest.mark.parametrize(("number", "title", "body"), TASKS, ids=[t[1] for t in TASKS])
def test_a_task(number, title, body, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    if "lan.pcapng" in body:
        (tmp_path / "lan.toml").write_text(text_of("lan"), "utf-8")
        assert invoke(["run", "lan.toml", "--pcap", "link:server=lan.pcapng", "--quiet"]) == 0
    results = re.findall(r"`([^`]+)`", body.rpartition("Result: ")[2])
    assert results
    for words in typed(body):
        assert words[0] == "fairlane" and invoke(words[1:]) == 0, words
    shown = capsys.readouterr()
    assert shown.err == ""
    # Commands of another program are not broken.
    assert max(len(line) for line in shown.out.splitlines() if not line.startswith(("tc ", "#"))) <= 80
    for name in results:
        assert (tmp_path / name).stat().st_size > 400, name
