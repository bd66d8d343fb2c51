"""The results that are recorded in the studies' folders, and the script of the documentation that lists them."""

from __future__ import annotations

from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType

from conftest import ROOT
from fairlane.papers.own_setup import recorded_own
from fairlane.papers.reproduction import Reproduction


@cache
def script() -> ModuleType:
    """docs/papers/verdicts.py."""
    spec = spec_from_file_location("docs_verdicts", ROOT / "docs" / "papers" / "verdicts.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def against_record(quick: Reproduction) -> list[tuple[str, str, str]]:
    """Claims with another result in the paper's setup than all recorded runs agree on: id, recorded, here."""
    own = recorded_own(quick.paper)
    assert set(own) == {j.claim.id for j in quick.claims}
    known = [(j, own[j.claim.id]) for j in quick.claims if j.here is not None]
    return [
        (j.claim.id, f"{o.runs_true} of {o.runs}", f"{j.runs_true} of {j.runs}")
        for j, o in known
        if o.runs and o.runs_true in (0, o.runs) and j.here != bool(o.runs_true)
    ]
