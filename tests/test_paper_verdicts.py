"""A verdict takes all runs of a study: what a part of them says is never another verdict than that of all of them, or a surer one."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import exp
from typing import Any

import pytest

from fairlane import papers
from fairlane.papers.claims import Claim, Judged, judge, read_claims
from fairlane.papers.reproduction import _missing, run_reproduction

STUDIES = papers.keys()
COPIES = 20


class Invented:
    """Tables with all values that a claim reads: a level of each combination, and replications around it, drawn by their names."""

    def __init__(self, seed: int, replications: Sequence[int], noise: float, draw: Callable[[Any], Sequence[int]]) -> None:
        self.seed, self.replications, self.noise, self.draw = seed, replications, noise, draw

    def v(self, table: str, **factors: object) -> float:
        key = (table, *sorted((k, str(x)) for k, x in factors.items()))
        level = 10 * exp(random.Random(f"{self.seed} {key}").gauss(0, 0.7))
        found = [level * (1 + self.noise * random.Random(f"{self.seed} {key} {i}").gauss(0, 1)) for i in self.draw(key)]
        return sum(found) / len(found)

    def vs(self, table: str, **factors: object) -> list[float]:
        return [self.v(table, **factors, member=i) for i in range(5)]

    def series(self, table: str, **factors: object) -> list[tuple[float, float]]:
        return [(float(t), self.v(table, **factors, t=t)) for t in range(6)]


def judged(claim: Claim, seed: int, replications: Sequence[int], noise: float, missing: str) -> Judged:
    means = Invented(seed, replications, noise, lambda _: replications)

    def copy(k: int) -> Invented:
        return Invented(seed, replications, noise, lambda key: random.Random(f"{k} {key}").choices(replications, k=len(replications)))

    return judge(claim, means, [copy(k) for k in range(COPIES)] if len(replications) > 1 else [], missing)  # type: ignore[arg-type]


def claims_of(key: str) -> list[Claim]:
    return read_claims(papers.shipped() / key / "claims.toml")


@pytest.mark.parametrize("key", STUDIES)
def test_a_part_of_the_replications_never_says_more_than_all_of_them(key):
    study = papers.load(key)
    whole = list(study.seeds)
    rng = random.Random(key)
    settled = unruly = 0
    settings = [(claim, rng.randrange(1000), noise) for claim in claims_of(key) for noise in (0.05, 1.0)]
    for claim, seed, noise in settings:
        full = judged(claim, seed, whole, noise, _missing(study, None, whole))
        assert full.so_far is None
        settled += full.verdict != "inconclusive"
        for size in {len(study.quick_seeds), len(whole) - 1}:
            part = rng.sample(whole, size)
            missing = _missing(study, None, part)
            assert missing == f"{size} of {len(whole)} replications"
            found = judged(claim, seed, part, noise, missing)
            assert found.verdict in (full.verdict, "inconclusive"), (claim.id, part)
            assert missing in found.reason
            unruly += found.so_far not in (full.verdict, "inconclusive")
    # Claims are settled, and parts do look like something else: the rule is what keeps that from being a verdict.
    assert settled > len(settings) // 3
    assert unruly > 0


@pytest.mark.parametrize("key", STUDIES)
def test_scenarios_that_a_quick_look_leaves_out_keep_it_open(key):
    study = papers.load(key)
    every, quick = ({c.factors for c in combinations} for combinations in (study.combinations(), study.quick_combinations()))
    told = _missing(study, study.quick_combinations(), study.seeds)
    assert told == ("" if quick >= every else f"{len(quick & every)} of {len(every)} scenarios")
    assert "replications" in _missing(study, study.quick_combinations(), study.quick_seeds)
    assert _missing(study, study.combinations(), range(1, len(study.seeds) + 5)) == ""


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """The folder of both tests below: what the first runs is there for the second."""
    return tmp_path_factory.mktemp("sarma")


def test_one_replication_settles_nothing_in_a_study_of_ten(out):
    """Tables, figures and text are inconclusive, even table 1 of sarma2013, which is arithmetic."""
    r = papers.reproduce("sarma2013", only="fig7,table1", quick=True, out=out, seeds=[1])
    assert r.missing == "1 of 10 replications"
    assert {j.verdict for j in r.claims} == {"inconclusive"}
    assert {e["verdict"] for e in r.to_json()["experiments"]} == {"inconclusive"}
    whole = replace(r, missing="")
    near = {e.id: whole.verdict(e, b)[0] for e, b in r.experiments if not any(f"sarma2013/{e.id}" in j.claim.experiments for j in r.claims)}
    assert near == {"table1": "holds"}
    page = r.page.read_text("utf-8")
    assert "No verdicts yet (1 of 10 replications)" in page


def test_a_claim_that_rests_on_what_was_left_out_has_no_verdict(out):
    study = papers.load("sarma2013")
    study.seeds = (1,)
    r = run_reproduction(study, only="fig7", out=out)
    assert r.missing == "" and r.claims
    for j in r.claims:
        rest = [e for e in j.claim.experiments if e != "sarma2013/fig7"]
        assert rest and j.verdict == "inconclusive", j.claim.id
