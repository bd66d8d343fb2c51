"""`python -m validation.kernel.quic`: quinn over real sockets through a live link, and the same quinn in simulated time.

Both ends are `examples/stacks/udp_end.rs`, which gives the simulator's stack a socket and the clock of the system:
`cargo build --release --package fairlane-stacks --features quinn --example udp_end`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import polars as pl

from fairlane import _core
from fairlane.runs.result import run_resolved

from . import machine
from .cases import CODEL, NUDGE_US, fifo
from .host import ADDRESS, PORT
from .report import MEASURES
from .runs import ATTEMPTS, LATE_US, MOST_LATE_US, STORED, LateError

RECORD = STORED.with_name("quic.json")
SECONDS, WARMUP = 30.0, 5.0
#: Bounds of the kernel's TCP, which hold here too: goodput, mean smoothed round-trip time, packets declared lost.
BOUNDS = {m.name: m for m in MEASURES if m.name in {"goodput", "rtt", "retransmits"}}
#: Control of quinn, rate in Mbit/s, round trip in ms, and queue of each case.
CASES = {
    "cubic/10mbit-44ms-fifo50": ("cubic", 10, 44, fifo(50)),
    "cubic/10mbit-40ms-codel": ("cubic", 10, 40, CODEL),
    "cubic/20mbit-20ms-fifo40": ("cubic", 20, 20, fifo(40)),
    "newreno/10mbit-44ms-fifo50": ("newreno", 10, 44, fifo(50)),
}


@dataclass(frozen=True)
class Found:
    """Results of a run, from the end of the warm-up on but for the packets lost."""

    goodput: float
    """Data that the receiver has read, Mbit/s."""
    rtt: float
    """Mean of the smoothed round-trip times, ms."""
    retransmits: float
    """Packets declared lost in the whole run."""
    late_p99_us: float = 0.0
    late_max_us: float = 0.0


def scenario(name: str, number: int = 1) -> _core.Resolved:
    """The path and flow of a case; that of run n is longer by n - 1 times 17 us."""
    cc, rate, rtt, queue = CASES[name]
    text = f"""\
duration = "{SECONDS:g}s"
sample = "10ms"
[links.bottleneck]
from = "a"
to = "b"
rate = "{rate}Mbit/s"
delay = "{rtt * 500 + NUDGE_US * (number - 1)}us"
queue = {queue}
[flows.f0]
from = "a"
to = "b"
stack.quinn = {{ cc = "{cc}", ecn = false }}
"""
    return _core.resolve(text, f"{name}.toml", "toml", [])


def of_simulation(name: str, number: int = 1) -> Found:
    """Returns the results of a simulated run."""
    result = run_resolved(scenario(name, number), [number])
    late = result.flow_series.filter(pl.col("time") >= WARMUP)
    goodput, rtt = (fmean(late[name].to_list()) for name in ("goodput", "srtt"))
    return Found(goodput * 1e-6, rtt * 1e3, float(result.flows["retransmits"].sum()))


def program() -> Path:
    """The newest build of `udp_end`. Raises KernelMissing if there is none."""
    target = os.environ.get("CARGO_TARGET_DIR", Path(__file__).resolve().parents[2] / "target")
    built = [p for p in Path(target).glob("*/examples/udp_end") if p.is_file()]
    if not built:
        command = "cargo build --release --package fairlane-stacks --features quinn --example udp_end"
        raise machine.KernelMissing(f"the program of both ends is missing: {command}")
    return max(built, key=lambda p: p.stat().st_mtime)


def of_sockets(name: str, number: int = 1) -> Found:
    """Returns the results of a run over real sockets, whose relay was in time. Raises LateError, and KernelMissing where it cannot run."""
    machine.check()
    end = str(program())
    addresses = [f"{ADDRESS[role]}:{PORT}" for role in "ab"]
    ends = ([end, "send", *addresses, CASES[name][0]], [end, "receive", *reversed(addresses), CASES[name][0]])
    for _ in range(ATTEMPTS):
        found = _measured(machine.run_programs(scenario(name, number), number, ends, SECONDS))
        if found.late_p99_us <= LATE_US and found.late_max_us <= MOST_LATE_US:
            return found
    raise LateError(f"{name}: 1 % of the packets were more than {found.late_p99_us:.0f} us late, one {found.late_max_us / 1000:.1f} ms")


def _measured(run: dict[str, Any]) -> Found:
    sent = [row for row in run["sender"] if row[0] >= WARMUP]
    got = [row for row in run["receiver"] if row[0] >= WARMUP]
    goodput = (got[-1][1] - got[0][1]) * 8e-6 / (got[-1][0] - got[0][0])
    rtt = fmean(row[2] for row in sent) / 1e3
    return Found(goodput, rtt, float(sent[-1][3]), run["late_p99_us"], run["late_max_us"])


def stored() -> dict[str, list[Found]]:
    """Runs on record."""
    return {name: [Found(**run) for run in runs] for name, runs in json.loads(RECORD.read_text()).items()}


def outside(real: list[Found], ours: list[Found]) -> list[str]:
    """Names of the quantities whose means differ by more than their bound."""
    means = {name: [fmean(getattr(f, name) for f in side) for side in (real, ours)] for name in BOUNDS}
    return [name for name, (a, b) in means.items() if abs(a - b) > BOUNDS[name].bound(a)]


def main(arguments: list[str] | None = None) -> int:
    """Exit code: 0 all within bounds or skipped, 1 some differ, 2 wrong use."""
    parser = argparse.ArgumentParser(
        prog="python -m validation.kernel.quic", description="Compares quinn over sockets with quinn in simulated time."
    )
    parser.add_argument("--stored", action="store_true", help="compare with the recorded runs instead of sending")
    parser.add_argument("--record", action="store_true", help="store what is sent")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="runs of each side (3)")
    options = parser.parse_args(arguments)
    known = stored() if options.stored else {}
    failed = 0
    print(f"{'case':<30}" + "".join(f"{m.name + ' ' + m.unit:>27}" for m in BOUNDS.values()) + "  late p99   sockets / simulated")
    try:
        for name in CASES:
            numbers = range(1, options.runs + 1)
            real = known[name] if options.stored else [of_sockets(name, n) for n in numbers]
            known[name] = real
            ours = [of_simulation(name, n) for n in numbers]
            wrong = outside(real, ours)
            failed += len(wrong)
            print(line(name, real, ours, wrong), flush=True)
    except machine.KernelMissing as missing:
        print(f"SKIPPED: {missing}; --stored compares with recorded runs")
        return 0
    except LateError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if options.record:
        rounded = {name: [{k: round(v, 4) for k, v in asdict(f).items()} for f in runs] for name, runs in known.items()}
        lines = [f" {json.dumps(name)}: [\n" + ",\n".join(f"  {json.dumps(f)}" for f in runs) + "\n ]" for name, runs in rounded.items()]
        RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    return 1 if failed else 0


def line(name: str, real: list[Found], ours: list[Found], wrong: list[str]) -> str:
    """A line of the table."""
    cells = []
    for measure in BOUNDS:
        a, b = (fmean(getattr(f, measure) for f in side) for side in (real, ours))
        cells.append(f"{a:9.4g} / {b:7.4g} {100 * (b - a) / a if a else 0:+5.1f}%{'!' if measure in wrong else ' '}")
    return f"{name:<30}" + "".join(f"{c:>27}" for c in cells) + f"{max(f.late_p99_us for f in real):7.0f} us"


if __name__ == "__main__":
    sys.exit(main())
