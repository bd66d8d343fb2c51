"""Random scenarios from the schema: run in every possible way, and checked against invariants of any run.

`tests/generated` draws and judges them. There are 300, times FAIRLANE_CASES: 10,500 with `make test-long`. One that breaks a law is made
smaller as long as it does, and written to `build/generated`; put into `tests/generated/found` it is run from then on.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from conftest import ROOT, cases
from fairlane.cli import invoke
from generated.repair import Tree, checked, shrunk
from generated.shapes import CONTROLS, SOURCES, scenario
from generated.trial import Outcome
from generated.values import DEFS
from generated.worker import Worker

COUNT = cases(300)
CHUNK = 100
"""Scenarios of one test."""
ENOUGH = 3
"""Failures after which a test ends."""
FOUND = sorted((Path(__file__).parent / "generated" / "found").glob("*.json"))


def written(worker: Worker, name: str, outcome: Outcome) -> str:
    """Returns the report on a scenario that breaks a law: the law, and the file of the smallest scenario found to break it."""
    law = outcome.broken[0].split(":")[0] + ":"

    def fails(tree: Tree) -> bool:
        return any(b.startswith(law) for b in worker.ask(tree).broken)

    # A scenario that does not end takes the whole time limit with each try.
    small = shrunk(outcome.tree, fails, 12 if law == "end:" else 300)
    path = ROOT / "build" / "generated" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(small) + "\n", "utf-8")
    return f"scenario {name}: {'; '.join(outcome.broken[:3])}\n  smallest: {path}\n  {path.read_text('utf-8')[:1000]}"


def run(numbers: range) -> None:
    kinds: Counter[str] = Counter()
    failures = []
    cut = 0
    with Worker() as worker:
        for n in numbers:
            outcome = worker.ask(n)
            kinds[outcome.kind] += 1
            cut += outcome.parts > 1
            if outcome.broken:
                failures.append(written(worker, str(n), outcome))
                if len(failures) == ENOUGH:
                    break
    assert not failures, "\n".join(failures)
    if len(numbers) == CHUNK:
        assert kinds["run"] >= 0.6 * len(numbers), f"too few scenarios run: {dict(kinds)}"
        assert cut > 0, "no network was cut into parts"


@pytest.mark.parametrize(
    "numbers", [range(n, min(n + CHUNK, COUNT)) for n in range(0, COUNT, CHUNK)], ids=lambda r: f"{r.start}-{r.stop - 1}"
)
def test_no_scenario_breaks_a_law(numbers: range) -> None:
    run(numbers)


@pytest.mark.parametrize("path", FOUND, ids=lambda p: p.stem)
def test_scenarios_that_broke_a_law_do_so_no_more(path: Path) -> None:
    with Worker() as worker:
        outcome = worker.ask(json.loads(path.read_text("utf-8")))
    assert outcome.kind != "large" and not outcome.broken, outcome.broken


def test_every_algorithm_is_drawn() -> None:
    """Among the scenarios of `make test` each queue, control, source and topology stands in some that passes the checks."""
    seen: set[str] = set()

    def names(node: object) -> None:
        if isinstance(node, dict):
            for key, own in node.items():
                seen.update([key, *([own] if isinstance(own, str) else [])])
                names(own)
        elif isinstance(node, list):
            for own in node:
                names(own)

    for n in range(300):
        resolved, _, _ = checked(scenario(n)[0])
        if resolved:
            names(json.loads(resolved.json(expanded=False)))
    registries = {kind: list(DEFS[kind]["anyOf"][1]["properties"]) for kind in ("QueueSpec", "TopologySpec", "PropagationSpec")}
    wanted = {*CONTROLS, *SOURCES, *(n for names in registries.values() for n in names)} - {"plugin"}
    assert not (missing := wanted - seen), f"never drawn: {sorted(missing)}"


def test_the_command_line_refuses_in_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused = 0
    for n in range(60):
        tree = scenario(n)[0]
        file = tmp_path / "x.json"
        file.write_text(json.dumps(tree))
        if not checked(tree)[0] or checked(tree)[1] == tree:
            continue
        assert invoke(["run", str(file), "-o", str(tmp_path / "out")]) == 2, n
        out, err = capsys.readouterr()
        assert not out and err.startswith("error: ") and "Traceback" not in err and "panicked" not in err, n
        assert not (tmp_path / "out").exists()
        refused += 1
    assert refused > 10
