"""Every algorithm that scenarios can name has a page of its model, a test against something outside of the code, and an example.

Rust tests see to it that an algorithm is complete; this one sees to it that people can use and trust it (CONTRIBUTING.md, "Tests").
"""

from __future__ import annotations

import functools
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import ROOT
from fairlane import _core
from fairlane.base.scenario import resolve
from fairlane.study import Study

PAGES = {
    "barabasi_albert": "topologies",
    "bulk": "udp-and-sources",
    "cbr": "udp-and-sources",
    "dumbbell": "links-and-routing",
    "fat_tree": "links-and-routing",
    "fixed_range": "wireless",
    "free_space": "wireless",
    "log_distance": "wireless",
    "two_ray": "wireless",
    "file": "udp-and-sources",
    "full_mesh": "topologies",
    "grid": "topologies",
    "leaf_spine": "topologies",
    "newreno": "tcp-recovery",
    "parking_lot": "links-and-routing",
    "noq": "stacks",
    "poisson": "udp-and-sources",
    "quinn": "stacks",
    "random_geometric": "topologies",
    "reno": "tcp-recovery",
    "ring": "topologies",
    "sack": "tcp-recovery",
    "star": "links-and-routing",
    "str0m": "stacks",
    "tahoe": "tcp-recovery",
    "tree": "topologies",
    "udp": "udp-and-sources",
    "waxman": "topologies",
}
"""Algorithms that share a page; all others have a page of their name."""
GENERAL = re.compile(r"conformance|(^|/)tests/(registry|queues|sources|golden)\.rs$")
"""Tests that run on every algorithm without knowing what it should do."""
SOURCES = {".rs", ".py", ".toml", ".tcl", ".cc"}

REGISTERED = [(entry["kind"], entry["name"]) for entry in json.loads(_core.registry())]


def page_of(name: str) -> Path:
    return ROOT / "docs" / "models" / f"{PAGES.get(name, name.replace('_', '-'))}.md"


def pages(name: str) -> list[Path]:
    """Where the page may lie; names of queues keep their underscore."""
    return [p for p in (page_of(name), page_of(name).with_stem(name)) if p.exists()]


def says(text: str, name: str) -> bool:
    """True if a text names the algorithm, as a word or as part of one: `fq_codel`, `FqCodelParams`, `rfc6817_ledbat`, `H-TCP`."""
    parts = [re.escape(part) for part in name.split("_")]
    return re.search(rf"(?<![a-z]){'[-_ ]?'.join(parts)}(?![a-z])", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text), re.I) is not None


def missing_page(kind: str, name: str) -> str | None:
    found = pages(name)
    if not found:
        return f"the {kind} `{name}` has no page: write {page_of(name).relative_to(ROOT)}"
    if name in PAGES and not says(found[0].read_text("utf-8"), name):
        return f"the {kind} `{name}` is not told of: write of it in {found[0].relative_to(ROOT)}"
    return None


MODELLED = {"queue", "cc", "source", "control"}
"""Kinds whose parameters are on the page of the model; those of the others are in docs/reference."""


def missing_parameters(kind: str, name: str) -> str | None:
    """The generated table of parameters: on one page, under its heading."""
    if kind not in MODELLED:
        return None
    mark = f"<!-- parameters {name} -->\n"
    if pages(name) and section(pages(name)[0], "Parameters").count(mark) == 1:
        return None
    page = page_of(name).relative_to(ROOT)
    return f"the parameters of the {kind} `{name}` are not shown: write {mark.strip()!r} and its end under Parameters in {page}"


def section(page: Path, title: str) -> str:
    """The text below a heading of a page."""
    return page.read_text("utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def checks(page: Path) -> Iterator[Path]:
    """The files of code that the section Validation of a page names, those of a comparison (`python -m validation.ns2`) among them."""
    text = page.read_text("utf-8").partition("\n## Validation\n")[2]
    for path in re.findall(r"`((?:crates|tests)/[\w/.]+)`", text):
        if not GENERAL.search(path):
            yield from _code(ROOT / path)
    for module in re.findall(r"`python -m (validation\.\w+)", text):
        yield from _code(ROOT / module.replace(".", "/"))


def _code(path: Path) -> Iterator[Path]:
    """A file, or the files of a folder."""
    yield from (p for p in (path.rglob("*") if path.is_dir() else [path]) if p.suffix in SOURCES and p.is_file())


def missing_check(kind: str, name: str) -> str | None:
    found = pages(name)
    if any(says(f"{path.stem} {path.read_text('utf-8')}", name) for page in found for path in checks(page)):
        return None
    page = (found or [page_of(name)])[0].relative_to(ROOT)
    return (
        f"the {kind} `{name}` is compared with nothing outside the code: write a test with numbers of its source (RFC, paper, formula, "
        f"ns-2, ns-3, Linux) and name its file under Validation in {page}; what runs on every algorithm does not count"
    )


@functools.cache
def used() -> frozenset[tuple[str, str]]:
    """Returns the algorithms in the examples: kind and name, from their scenarios as they are resolved, levels of studies included."""
    examples = ROOT / "examples"
    trees = [resolve(p) for p in examples.glob("*.toml")]
    studies = [Study.from_file(p).plan() for p in (examples / "studies").glob("*.toml")]
    stacks = [tomllib.loads(p.read_text("utf-8")) for p in (examples / "stacks").glob("*.toml")]
    trees += [json.loads(combination.resolved) for plan in studies for combination in plan.combinations]
    # Scenarios with a stack resolve only in programs that have it.
    named = (("stack", name) for tree in stacks for table in _under(tree, "stack") for name in table)
    return frozenset((*named, *(pair for tree in trees for pair in _used(tree))))


def _used(tree: dict) -> Iterator[tuple[str, str]]:
    yield from (("topology", name) for name in tree.get("topology") or {})
    for flow in tree["flows"].values():
        yield from (("transport", name) for name in ("tcp", "udp") if flow.get(name) is not None)
        if flow.get("tcp"):
            cc = flow["tcp"]["cc"]
            yield "cc", cc if isinstance(cc, str) else next(iter(cc))
    for key, kind in (("queue", "queue"), ("source", "source"), ("control", "control"), ("propagation", "propagation")):
        yield from ((kind, name) for table in _under(tree, key) for name in table)


def _under(tree: object, key: str) -> Iterator[dict]:
    """The tables under a key, at any depth."""
    if isinstance(tree, dict):
        if isinstance(tree.get(key), dict):
            yield tree[key]
        tree = list(tree.values())
    for part in tree if isinstance(tree, list) else ():
        yield from _under(part, key)


EXAMPLES = {
    "queue": "a word in examples/studies/every_queue.toml",
    "cc": "a word in examples/studies/every_control.toml",
    "stack": "examples/stacks/NAME.toml",
}


def missing_example(kind: str, name: str) -> str | None:
    if (kind, name) in used():
        return None
    return f"no example uses the {kind} `{name}`: write {EXAMPLES.get(kind, f'examples/{name}.toml')}"


@pytest.mark.parametrize("missing", [missing_page, missing_parameters, missing_check, missing_example], ids=lambda f: f.__name__)
def test_every_algorithm_is_told_of_checked_and_shown(missing):
    found = [message for kind, name in REGISTERED if (message := missing(kind, name))]
    assert not found, "\n" + "\n".join(found)


def test_what_is_missing_is_named():
    """An unknown name misses all of them, and the message says which file to write."""
    for missing, file in (
        (missing_page, "docs/models/best-of-all.md"),
        (missing_parameters, "docs/models/best-of-all.md"),
        (missing_check, "docs/models/best-of-all.md"),
        (missing_example, "examples/studies/every_queue.toml"),
    ):
        message = missing("queue", "best_of_all")
        assert message and "`best_of_all`" in message and file in message


def test_no_name_is_sent_to_another_page_without_need():
    names = {name for _, name in REGISTERED}
    assert set(PAGES) <= names
    needless = [
        name for name in PAGES if page_of(name).with_stem(name.replace("_", "-")).exists() or page_of(name).with_stem(name).exists()
    ]
    assert not needless, f"these have a page of their name: {needless}"
