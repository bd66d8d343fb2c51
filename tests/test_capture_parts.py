"""The tables of a capture do not depend on how many of its packets are in memory at a time."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from conftest import ROOT
from fairlane import _core
from fairlane.formats import capture_tables
from fairlane.formats.event_metrics import Flow, Recorded, step_of, tables
from fairlane.runs.trace import scan, scan_parts


@pytest.mark.parametrize("rows", [1, 7, 100])
@pytest.mark.parametrize("which", ["cooked.pcapng", "loopback.pcap"])
def test_tables_of_parts_are_those_of_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: str, rows: int):
    """Round-trip times, data in flight and sums continue from part to part, also where a flow has nothing in between."""
    flows, _, span, *_ = _core.read_capture(str(ROOT / "tests/captures" / which), str(tmp_path / "seed=0"))
    named = [Flow(name, start, end, "tcp" if tcp else "udp") for name, start, end, tcp, *_ in flows]
    (whole,) = scan_parts(tmp_path)
    height = whole.select(pl.len()).collect().item()
    seen: list[int] = []
    add = capture_tables._add

    def counted(out: capture_tables.Captured, part: pl.DataFrame) -> None:
        seen.append(part.height)
        add(out, part)

    monkeypatch.setattr(capture_tables, "_add", counted)
    made = []
    for most in (height, max(rows, height // 300)):
        monkeypatch.setattr(capture_tables, "ROWS", most)
        seen.clear()
        of = Recorded(scan(tmp_path), named, span=span * 1000, one_way=False, parts=(whole,))
        made.append(tables(of, step_of(of.span, len(named))))
        assert sum(seen) == height and max(seen) <= most
    for name, frame in made[0].items():
        assert_frame_equal(frame, made[1][name], check_exact=True)
