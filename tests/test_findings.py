"""The page over all studies: its counts are those of its own list of verdicts, and of the claims there are."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from conftest import ROOT
from fairlane import papers
from fairlane.papers.claims import read_claims
from verdicts import VERDICTS, recorded

TEXT = (ROOT / "docs" / "papers" / "findings.md").read_text("utf-8")
CLAIMS = {key: read_claims(papers.shipped() / key / "claims.toml") for key in papers.keys()}  # noqa: SIM118


@pytest.mark.parametrize("key", papers.keys())
def test_every_claim_has_one_verdict(key):
    lists = recorded()[key]
    assert sorted(i for v in VERDICTS for i in lists[v]) == sorted(c.id for c in CLAIMS[key])
    counts = re.search(rf"\| \[{key}\]\([^|]*\|[^|]*\| (\d+) \| (\d+) \| (\d+) \|", TEXT)
    assert [int(n) for n in counts.groups()] == [len(lists[v]) for v in VERDICTS]


def test_the_sums_in_the_text():
    verdict = {(k, i): v for k, lists in recorded().items() for v, ids in lists.items() for i in ids}
    crossed = Counter((c.published, verdict[k, c.id]) for k, claims in CLAIMS.items() for c in claims)
    printed = Counter(c.published for claims in CLAIMS.values() for c in claims)
    said = re.search(
        r"bear out (\d+) of these (\d+) claims, and (\d+) of those hold here. "
        r"They contradict (\d+) of them, and (\d+) of those fail here, too. For (\d+) ",
        TEXT,
    )
    assert [int(n) for n in said.groups()] == [
        printed["holds"], sum(printed.values()), crossed["holds", "holds"], printed["fails"], crossed["fails", "fails"], printed["no-data"],
    ]  # fmt: skip
