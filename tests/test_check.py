"""`make check` finds the tests of a room."""

from __future__ import annotations

import check
from conftest import ROOT


def test_every_file_of_tests_is_some_room_s():
    known = {f for files in check.FILES.values() for f in files}
    there = {p.stem.removeprefix("test_") for p in ROOT.glob("tests/test_*.py")} - {"check"}
    assert known | {*check.WHOLE} == there


def test_every_room_has_tests():
    rooms = {p.name for p in check.PACKAGE.iterdir() if p.is_dir() and (p / "__init__.py").exists()}
    assert rooms - {*check.FILES} == set()
    papers = {p.parent.name for p in ROOT.glob("papers/*/paper.toml")}
    assert papers - {*check.FILES} == {"sarma2013"}, "tests of sarma2013 are those of the room papers"


def test_a_file_is_of_its_room():
    paths = [
        "crates/queue/src/law/red.rs",
        "python/fairlane/study/plan.py",
        "papers/yang2001/net.py",
        "tests/test_tune.py",
        "docs/guides/studies.md",
    ]
    assert check.rooms_of(paths) == ["docs", "papers", "queue", "study", "tuning", "yang2001"]
    assert check.rooms_of([".gitignore", "Makefile", "python/fairlane/__init__.py"]) == []


def test_a_crate_below_the_registry_brings_what_runs_all_of_its_algorithms():
    (own, all_of_them) = check.commands(["queue"])
    assert own == ["cargo", "test", "--package=fairlane-queue"]
    assert all_of_them[:3] == ["cargo", "test", "--package=fairlane-scenario"]
    (tests,) = check.commands(["linux"])
    assert tests[-2:] == ["tests/test_tc.py", "python/fairlane/linux"]
