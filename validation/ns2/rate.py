"""`python -m validation.ns2.rate`: TFRC and RAP in competition with TCP, in fairlane and ns-2.

As many flows of one kind of rate control as of TCP (Sack) share a link of 10 Mbit/s and 48 ms there and back, with RED or with DropTail.
Measured from 20 s to 120 s over five seeds: the share of the rate control, its mean rate over TCP's; the coefficient of variation of the
rates of both over windows of 1 s, the mean of the flows (Floyd, Handley, Padhye and Widmer 2000, section 4.1.2); and the utilisation of
the link. `--record` runs ns-2 and stores what it measured in `validation/data/ns2/rate.csv`; without it the stored numbers are compared
with ours.
"""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean, pstdev

STORED = Path(__file__).resolve().parents[1] / "data" / "ns2" / "rate.csv"
"""Recorded values of ns-2."""
CASES = [(kind, flows, queue) for kind in ("tfrc", "rap") for flows, queue in ((1, "red"), (4, "red"), (8, "red"), (4, "droptail"))]
"""Kind of rate control, flows of it and of TCP, queue."""
SEEDS = (1, 2, 3, 4, 5)
FROM, TO = 20, 120
"""Seconds that are measured."""
LENGTH = 1040
"""Bytes of each data packet on the wire, payload of 1000."""
COLUMNS = ("share", "cov", "cov_tcp", "utilisation")

_TCL = """\
ns-random {seed}
set ns [new Simulator]
set r0 [$ns node]; set r1 [$ns node]
Queue/RED set thresh_ 10
Queue/RED set maxthresh_ 50
Queue/RED set q_weight_ 0.002
Queue/RED set linterm_ 10
Queue/RED set gentle_ true
Queue/RED set queue_in_bytes_ false
Queue/RED set bytes_ false
Queue/RED set adaptive_ 0
$ns duplex-link $r0 $r1 10Mb 20ms {queue}
$ns queue-limit $r0 $r1 100
proc host {{r}} {{
    global ns
    set h [$ns node]
    $ns duplex-link $h $r 100Mb 2ms DropTail
    $ns queue-limit $h $r 1000; $ns queue-limit $r $h 1000
    return $h
}}
set rng [new RNG]; $rng seed {seed}
proc tcp {{}} {{
    global a z go
    set a [new Agent/TCP/Sack1]; set z [new Agent/TCPSink/Sack1]
    $a set packetSize_ 1000; $a set window_ 10000; $z set packetSize_ 40
    set f [new Application/FTP]; $f attach-agent $a; set go "$f start"
}}
proc tfrc {{}} {{
    global a z go
    set a [new Agent/TFRC]; set z [new Agent/TFRCSink]
    $a set packetSize_ {length}; $z set packetSize_ 48
    set f [new Application/FTP]; $f attach-agent $a; set go "$f start"
}}
proc rap {{}} {{
    global a z go
    set a [new Agent/RAP]; set z [new Agent/RAP]
    $a set packetSize_ {length}; $a set delta_ 0.125; $z set rap_base_hdr_size_ 44
    $z listen; set go "$a start"
}}
for {{set i 0}} {{$i < 2 * {flows}}} {{incr i}} {{
    if {{$i < {flows}}} {{ tcp }} else {{ {kind} }}
    set s [host $r0]; set d [host $r1]
    $a set fid_ $i; $z set fid_ $i
    $ns attach-agent $s $a; $ns attach-agent $d $z; $ns connect $a $z
    $ns at [$rng uniform 0 1] $go
}}
set t [$ns create-trace Deque stdout $r0 $r1]
set q [[$ns link $r0 $r1] queue]; $t target [$q target]; $q target $t
$ns at {to} "exit 0"
$ns run
"""

_TOML = """\
duration = "{to}s"
warmup = "{start}s"
sample = "1s"
[topology.dumbbell]
pairs = {pairs}
access = {{ rate = "100Mbit/s", delay = "2ms" }}
bottleneck = {{ rate = "10Mbit/s", delay = "20ms", queue.{queue} }}
[flows.tcp]
from = "s{{i}}"
to = "d{{i}}"
count = {flows}
spread = "1s"
tcp = {{ preset = "ns2", cc = "newreno", recovery = "sack", mss = "1000B", window = "10000p" }}
[flows.rate]
from = "s{{i}}"
to = "d{{i}}"
first = {flows}
count = {flows}
spread = "1s"
udp = {{ header = "28B" }}
source.{kind} = {{ size = "1000B", data_header = "12B" }}
"""

_QUEUES = {
    "red": 'red = { preset = "ns2", limit = "100p", min = "10p", max = "50p", w_q = 0.002, measure = "packets", byte_mode = false }',
    "droptail": 'droptail = { limit = "100p" }',
}


def measures(rates: list[list[float]], flows: int) -> dict[str, float]:
    """The columns from the bit/s of each flow in each second, TCP's flows first."""
    means = [fmean(r) for r in rates]
    spread = [pstdev(r) / m if m > 0 else 0.0 for r, m in zip(rates, means, strict=True)]
    return {
        "share": fmean(means[flows:]) / fmean(means[:flows]),
        "cov": fmean(spread[flows:]),
        "cov_tcp": fmean(spread[:flows]),
        "utilisation": sum(means) / 10e6,
    }


def of_trace(lines: Iterable[str], flows: int) -> dict[str, float]:
    """The measures of a trace of departures."""
    rates = [[0.0] * (TO - FROM) for _ in range(2 * flows)]
    for line in lines:
        part = line.split()
        second = int(float(part[1])) - FROM
        if 0 <= second < TO - FROM:
            rates[int(part[7])][second] += 8.0 * float(part[5])
    return measures(rates, flows)


def theirs(kind: str, flows: int, queue: str, seed: int) -> dict[str, float]:
    """One run of ns-2."""
    name = {"red": "RED", "droptail": "DropTail"}[queue]
    text = _TCL.format(kind=kind, flows=flows, queue=name, seed=seed, length=LENGTH, to=TO)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scenario.tcl"
        path.write_text(text, encoding="ascii")
        done = subprocess.run(["ns", str(path)], capture_output=True, text=True, cwd=folder, check=True)
    return of_trace(done.stdout.splitlines(), flows)


def ours(kind: str, flows: int, queue: str, seeds: Iterable[int] = SEEDS) -> list[dict[str, float]]:
    """Our runs, one a seed."""
    from fairlane import _core

    text = _TOML.format(kind=kind, flows=flows, pairs=2 * flows, queue=_QUEUES[queue], start=FROM, to=TO)
    found = []
    for run in _core.run(_core.resolve(text, "rate.toml", "toml", []), list(seeds), 2, False, None):
        series = run.flow_series()
        names = [f"{group}.{i}" if flows > 1 else group for group in ("tcp", "rate") for i in range(flows)]
        rates: dict[str, list[float]] = {name: [] for name in names}
        for name, time, rate in zip(series["flow"], series["time"], series["throughput"], strict=True):
            if time > FROM:
                rates[name].append(rate)
        found.append(measures([rates[name] for name in names], flows))
    return found


def stored() -> dict[tuple[str, int, str], list[dict[str, float]]]:
    """Returns the recorded values of ns-2, by case."""
    out: dict[tuple[str, int, str], list[dict[str, float]]] = {}
    with STORED.open(newline="", encoding="ascii") as file:
        for row in csv.DictReader(file):
            out.setdefault((row["kind"], int(row["flows"]), row["queue"]), []).append({c: float(row[c]) for c in COLUMNS})
    return out


def record() -> None:
    """Runs ns-2 on every case and stores the measures."""
    with STORED.open("w", newline="", encoding="ascii") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["kind", "flows", "queue", "seed", *COLUMNS])
        for kind, flows, queue in CASES:
            for seed in SEEDS:
                found = theirs(kind, flows, queue, seed)
                writer.writerow([kind, flows, queue, seed, *(f"{found[c]:.4g}" for c in COLUMNS)])


def main() -> None:
    """Prints the comparison."""
    if "--record" in sys.argv:
        if shutil.which("ns") is None:
            sys.exit("ns-2 is not installed (Debian: apt-get install ns2)")
        record()
    print(f"{'case':20}" + "".join(f"{c:>22}" for c in COLUMNS) + "   (ours | ns-2)")
    for (kind, flows, queue), rows in stored().items():
        here = ours(kind, flows, queue)
        cells = (f"{fmean(r[c] for r in here):10.3f} |{fmean(r[c] for r in rows):9.3f}" for c in COLUMNS)
        print(f"{kind} {flows} {queue:12}" + "".join(f"{cell:>22}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
