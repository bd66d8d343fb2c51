"""Runs of the kernel: one that was in time, and those that are stored."""

from __future__ import annotations

import json
from pathlib import Path

from . import machine
from .cases import Case
from .measures import Found, of_kernel

STORED = Path(__file__).resolve().parents[1] / "data" / "kernel" / "results.json"
#: Beyond this the relay was not in time, and the kernel's side measured this machine instead of the path: the run does not count.
LATE_US = 100.0
#: And one so late has stopped the path for long enough to fill the queue.
MOST_LATE_US = 10_000.0
#: Attempts at a run in time.
ATTEMPTS = 4


class LateError(RuntimeError):
    """This machine cannot keep time; the text says how late it was."""


def live(case: Case, number: int) -> Found:
    """A run of the kernel that was in time."""
    for _ in range(ATTEMPTS):
        found = of_kernel(case, machine.run(case, number))
        if found.late_p99_us <= LATE_US and found.late_max_us <= MOST_LATE_US:
            return found
    late = f"1 % of the packets were more than {found.late_p99_us:.0f} us late, one {found.late_max_us / 1000:.1f} ms"
    raise LateError(f"{case.name}: {late}; run fewer at once, on a quiet machine")


def stored(case: Case) -> list[Found]:
    """Runs of a case that were recorded; none if it was not."""
    if not STORED.exists():
        return []
    runs = json.loads(STORED.read_text())["cases"].get(case.name, [])
    return [Found(**{**values, "flows": tuple(values["flows"])}) for values in runs]


def record(case: Case, found: list[Found]) -> None:
    """Stores what the kernel did."""
    known = json.loads(STORED.read_text()) if STORED.exists() else {"cases": {}}
    known["kernel"] = Path("/proc/sys/kernel/osrelease").read_text().split("-")[0].strip()
    known["cases"][case.name] = [_rounded(f) for f in found]
    STORED.parent.mkdir(parents=True, exist_ok=True)
    lines = [f' "{name}": [\n' + ",\n".join(f"  {json.dumps(run)}" for run in runs) + "\n ]" for name, runs in known["cases"].items()]
    STORED.write_text(f'{{"kernel": {json.dumps(known["kernel"])}, "cases": {{\n' + ",\n".join(lines) + "\n}}\n")


def _rounded(found: Found) -> dict[str, object]:
    values = {name: round(value, 4) for name, value in found.as_dict().items() if isinstance(value, float)}
    return values | {"flows": [round(f, 4) for f in found.flows]}
