"""The pages of docs/validation: their tables are those of the stored values."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType

import pytest

from conftest import ROOT

PAGES = ROOT / "docs" / "validation"


def _script() -> ModuleType:
    spec = spec_from_file_location("docs_tables", PAGES / "tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


tables = _script()


@pytest.mark.parametrize("name", tables.parts())
def test_the_tables_are_those_of_the_stored_values(name):
    page = (PAGES / f"{name}.md").read_text("utf-8")
    assert "<!-- " in page and tables.written(name, page) == page, "run: python docs/validation/tables.py"


@pytest.mark.parametrize(("side", "most"), [("ns2", 14), ("ns3", 0), ("kernel", 2)])
def test_a_value_that_differs_is_on_the_page(side, most):
    """A page lists every value that is neither near nor explained, and there are no more of them than before."""
    apart = [v for v in tables.recorded(side)[1] if not v.near and v.verdict != "explained"]
    page = (PAGES / f"{side}.md").read_text("utf-8")
    assert len(apart) <= most and all(f"| `{v.case}` | {v.metric}" in page for v in apart)


def test_values_of_a_document():
    interval = {"mean": 2.0, "low": None, "high": None, "sd": None, "n": 1}
    row = {
        "case": "N1/x",
        "metric": "drops",
        "unit": "packets",
        "ns3": interval,
        "fairlane": {**interval, "mean": 3.0},
        "verdict": "explained",
    }
    side, (value,) = tables.values_of({"schema": "fairlane.validation.ns3/1", "rows": [row, {**row, "verdict": "shown"}]})
    assert (side, value.family, value.off, value.near) == ("ns3", "N1", 50.0, False)
    words = "0 of 1 compared values are within their bounds or intervals (1 cases); 1 differ for reasons explained below."
    assert tables.judgement("Queues agree", [value]) == f"Queues agree: {words}"
    assert "| `N1/x` | drops (packets) | 2 | 3 |" in tables.outside([value], "ns-3")
    assert "| N1 | 1 | 1 | 0 | 0 | 1 | 0 |" in tables.by_family([value])
