"""Files that are nearly right: scenarios, studies, scripts, and files of other programs. Each is read, or refused without a traceback.

`long`: a hundred times as many.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fairlane as fl
from conftest import ROOT, cases
from fairlane import _core
from fairlane.base import toml
from fairlane.errors import FairlaneError, ScenarioError
from fairlane.formats.flow_list import import_flows
from fairlane.graphs import read_graph
from fairlane.script import ScriptError
from fairlane.script.parser import parse
from fairlane.study.reader import read_text
from fairlane.tuning.reader import parse as read_tune
from mutations import broken, mutated

SCENARIOS = sorted(ROOT.glob("examples/*.toml"))
STUDIES = sorted(ROOT.glob("examples/studies/*.toml"))
TUNES = sorted(ROOT.glob("examples/tuning/*.toml"))
SCRIPTS = sorted((ROOT / "python/fairlane/scripts").glob("*.pkt"))
SAMPLES = ROOT / "tests" / "samples"
FEW = 12
"""Mutations of each file in the common tests."""
MANY = 1200


def scenario(text: str, name: str) -> None:
    """A scenario, down to the numbers that a run would begin with."""
    resolved = _core.resolve(text, name, "toml", [])
    # What was accepted is a scenario: written out and read again it is the same.
    again = _core.resolve(resolved.json(expanded=False), "again.json", "json", [])
    assert json.loads(again.json(expanded=False)) == json.loads(resolved.json(expanded=False))


def study(text: str, name: str) -> None:
    read_text(text, name)


def tune(text: str, name: str) -> None:
    read_tune(text, name, "toml")


def script(text: str, name: str) -> None:
    parse(name, text)


def attempt(read: Callable[[str, str], None], text: str, name: str) -> None:
    """Reads a file, which may be refused in the one way in which files are."""
    try:
        read(text, name)
    except ScenarioError as e:
        assert e.diagnostics or e.more or str(e), text
        for d in e.diagnostics:
            assert d["message"] and d["column"] >= 1 and (d["line"] is None or d["line"] >= 1), (d, text)
            assert d["file"], (d, text)
        assert len(e.rendered) < 40_000 and "\x1b" not in e.rendered and "\x00" not in e.rendered, text
    except ScriptError as e:
        assert all(d["line"] >= 1 and d["message"] for d in e.diagnostics), text
    except FairlaneError as e:
        assert str(e) and "Traceback" not in str(e), text


def graph(file: Path) -> None:
    """Nodes, and links unless all lead from a node to itself."""
    unit = {"net.sndlib.txt": "rate=pre_installed_capacity:Mbit/s", "net.sndlib.xml": "rate=pre_installed_capacity:Mbit/s"}
    made = read_graph(file, map=unit.get(file.name, ""), rate="7Mbit/s", delay="9ms")
    assert made.nodes


def path(file: Path) -> None:
    """Rate, delay and loss of a link."""
    link(f'profile = {{ file = "{file}", rates = false, delays = true }}')


def link(what: str = 'delay = "1ms"', flow: str = 'tcp = "reno"') -> None:
    text = f'duration = "1s"\n[links.l]\nfrom = "a"\nto = "b"\nrate = "1Mbit/s"\n{what}\n[flows.f]\nfrom = "a"\nto = "b"\n{flow}\n'
    _core.resolve(text, "x.toml", "toml", [])


def packets(file: Path) -> None:
    """Times and sizes of packets."""
    link(flow=f'udp = {{}}\nsource.replay = {{ file = "{file}" }}')


def flows(file: Path) -> None:
    """A list of flows."""
    fl.Network.from_toml(toml.dumps(import_flows(file.read_text("utf-8", "replace"), str(file)).tree)).resolve()


OTHERS: dict[str, tuple[Callable[[Path], Any], tuple[str, ...]]] = {
    "graph": (graph, ("net.[!d]*", "map.cch", "latencies.intra")),
    "profile": (path, ("path.csv", "ping.txt", "irtt.json", "errant.csv", "leoem.txt", "hypatia.txt")),
    "packets": (packets, ("call.txt",)),
    "flows": (flows, ("flows.csv",)),
    "flent": (fl.import_file, ("rrul.flent",)),
}
"""Files of other programs by what reads them. Logs, tc, ns-2 and Mininet have mutations of their own, next to their tests."""


def all_of_others(kind: str, count: int, folder: Path) -> None:
    read, patterns = OTHERS[kind]
    files = sorted(f for p in patterns for f in SAMPLES.glob(p))
    assert len(files) >= len(patterns)
    for number, sample in enumerate(files):
        read(sample)
        text = sample.read_text("utf-8")
        file = folder / sample.name
        for i in range(count):
            file.write_text(broken(text, number * 1_000_003 + i), "utf-8")
            try:
                read(file)
            except FairlaneError as e:
                assert str(e) and len(str(e)) < 4000 and "Traceback" not in str(e), file.read_text("utf-8")


@pytest.mark.parametrize("kind", OTHERS)
def test_files_of_others_that_are_nearly_right(kind: str, tmp_path: Path) -> None:
    all_of_others(kind, cases(FEW), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("kind", OTHERS)
def test_many_files_of_others_that_are_nearly_right(kind: str, tmp_path: Path) -> None:
    all_of_others(kind, MANY, tmp_path)


KINDS = {"scenario": (scenario, SCENARIOS), "study": (study, STUDIES), "tune": (tune, TUNES), "script": (script, SCRIPTS)}


def all_of(kind: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    read, files = KINDS[kind]
    assert files, f"no examples of {kind}"
    for number, file in enumerate(files):
        text = file.read_text()
        # Paths in a file are relative to it.
        monkeypatch.chdir(file.parent)
        name = str(file)
        attempt(read, text, name)
        for i in range(count):
            seed = number * 1_000_003 + i
            odd = broken(text, seed)
            if kind != "script" and i % 3:
                odd = _dumps(mutated(tomllib.loads(text), seed))
            attempt(read, odd, name)


def _dumps(tree: dict[str, Any]) -> str:
    return "".join(f"{toml.key(k)} = {toml.value(v)}\n" for k, v in tree.items() if v is not None)


@pytest.mark.parametrize("kind", KINDS)
def test_files_that_are_nearly_right(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    all_of(kind, FEW, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_many_files_that_are_nearly_right(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    all_of(kind, MANY, monkeypatch)


def test_what_is_changed_is_mostly_wrong() -> None:
    """The mutations find mistakes: a good share of them is refused, and some are still right."""
    text = (ROOT / "examples/quickstart.toml").read_text()
    refused = 0
    for seed in range(200):
        try:
            _core.resolve(_dumps(mutated(tomllib.loads(text), seed)), "x.toml", "toml", [])
        except ScenarioError:
            refused += 1
    assert 80 < refused < 198, refused
