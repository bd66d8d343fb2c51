"""`make check` finds the tests of a package."""

from __future__ import annotations

import check
from conftest import ROOT


def test_every_test_file_belongs_to_a_package():
    known = {f for files in check.FILES.values() for f in files}
    there = {p.stem.removeprefix("test_") for p in ROOT.glob("tests/test_*.py")} - {"check"}
    assert known | {*check.WHOLE} == there


def test_every_package_has_tests():
    packages = {p.name for p in check.PACKAGE.iterdir() if p.is_dir() and (p / "__init__.py").exists()}
    assert packages - {*check.FILES} == set()
    papers = {p.parent.name for p in ROOT.glob("papers/*/paper.toml")}
    assert papers <= {*check.FILES}


def test_a_file_belongs_to_its_package():
    paths = [
        "crates/queue/src/law/red.rs",
        "python/fairlane/study/plan.py",
        "papers/yang2001/net.py",
        "tests/test_tune.py",
        "docs/guides/studies.md",
    ]
    assert check.packages_of(paths) == ["docs", "papers", "queue", "study", "tuning", "yang2001"]
    assert check.packages_of([".gitignore", "Makefile", "tests/conftest.py"]) == []
    assert check.packages_of(["python/fairlane/errors.py", "python/fairlane/queues.py"]) == ["base"]


def test_a_crate_below_the_registry_runs_the_tests_of_all_algorithms():
    own, record, all_of_them = check.commands(["queue"])
    assert own == ["cargo", "test", "--package=fairlane-queue"]
    assert record[2:] == ["--package=fairlane-scenario", "--test=golden"]
    assert all_of_them[-3:] == ["queues::", "registry::", "series::"]
    (tests,) = check.commands(["linux"])
    assert "tests/test_tc.py" in tests and tests[-1] == "python/fairlane/linux"


def test_modules_of_all_algorithms_exist():
    """A filter that names nothing would pass."""
    modules = (ROOT / "crates/scenario/tests/all.rs").read_text()
    assert all(f"mod {module};\n" in modules for names in check.OF_ALL.values() for module in names)
    assert 'name = "golden"' in (ROOT / "crates/scenario/Cargo.toml").read_text()
