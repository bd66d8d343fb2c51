"""Contents of an imported file, before they become a result."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .event_metrics import Flow

if TYPE_CHECKING:
    import polars as pl


@dataclass
class ImportedRun:
    """Contents of an imported file."""

    kind: str
    flows: list[Flow]
    links: list[tuple[str, str, str]]
    tables: dict[str, pl.DataFrame]
    span: int
    """Measured time in picoseconds."""
    step: int
    """Sampling step in picoseconds."""
    events: int = 0
    remarks: list[str] = field(default_factory=list)
    traced: Path | None = None
    began: str | None = None
    """Date of time 0, if the file has one."""
    packets: int = 0
