"""The verdicts of the settings that are recorded in the studies' folders, and the script of the documentation that lists them."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType

from conftest import ROOT
from fairlane.papers.reproduction import Reproduction


def script() -> ModuleType:
    """docs/papers/verdicts.py."""
    spec = spec_from_file_location("docs_verdicts", ROOT / "docs" / "papers" / "verdicts.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def against_record(quick: Reproduction) -> list[tuple[str, str, str]]:
    """Claims that so far look otherwise than recorded: id, recorded, here. What depends on a choice may look either way."""
    plain = ("holds", "fails")
    of = {i: v for v, ids in script().verdicts(quick.paper.key).items() for i in ids}
    return [
        (j.claim.id, of[j.claim.id], j.leaning)
        for j in quick.claims
        if j.leaning in plain and of[j.claim.id] in plain and j.leaning != of[j.claim.id]
    ]
