"""A study that is killed again and again, at full size.

usage: python -m validation.study [--runs 10000] [--kills 20] [--workers threads|processes|dask] [--json]

The study runs in a process of its own, which gets SIGKILL at random times, and is started again, until it ends. On Dask every second
kill meets a worker instead, and another one is started in its place. Then DuckDB compares the folder with that of a study that was left
alone: exactly the planned runs, none twice, none torn, all rows of all tables the same to the last bit. `tests/test_study_kill.py` is
the small version.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import duckdb

SEEDS = 20
SCENARIO = {
    "topology": {"dumbbell": {"pairs": 2, "bottleneck": {"rate": "10Mbit/s", "delay": "10ms", "queue": {"red": {}}}}},
    "flows": {"tcp": {"from": "s{i}", "to": "d{i}", "count": 2, "spread": "100ms", "tcp": "newreno"}},
}
METRICS = ["links.bottleneck.utilisation", "flows.tcp.goodput.sum", "network.jain"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--workers", choices=["threads", "processes", "dask"], default="threads")
    parser.add_argument("--duration", default="1s", help="simulated time of a run")
    parser.add_argument("--chance", type=int, default=1, help="seed of the times of the kills")
    parser.add_argument("--child", metavar="FOLDER", help=argparse.SUPPRESS)
    parser.add_argument("--cluster", help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true")
    a = parser.parse_args()
    if a.child:
        return child(a)
    with tempfile.TemporaryDirectory() as place:
        outcome = drill(a, Path(place))
    print(json.dumps(outcome, indent=1) if a.json else "\n".join(f"{k:<24}{v}" for k, v in outcome.items()))
    return int(outcome["lost"] + outcome["foreign"] + outcome["twice"] + outcome["rows that differ"] + outcome["torn"] > 0)


def child(a: argparse.Namespace) -> int:
    """The study itself; says how many runs are there, about ten times a second."""
    from fairlane.study import Study

    combinations = -(-a.runs // SEEDS)
    delays = [f"{10_000 + i}us" for i in range(combinations)]
    scenario = {"duration": a.duration, **SCENARIO}
    study = Study(scenario, factors={"topology.dumbbell.bottleneck.delay": delays}, seeds=f"1..{SEEDS}", metrics=METRICS)
    pool = {"threads": {}, "processes": {"processes": 0}, "dask": {"cluster": a.cluster}}[a.workers]
    result = study.run(a.child, progress=lambda t: print(t.done, t.reused, flush=True), **pool)
    for note in result.notes:
        print("note", note, flush=True)
    return int(result.tally.failed > 0)


class Cluster:
    """A scheduler and two workers on this machine, to be killed one by one."""

    def __init__(self, place: Path) -> None:
        self.file = place / "scheduler.json"
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", str(self.file))
        while not self.file.exists():
            time.sleep(0.1)
        self.address = json.loads(self.file.read_text())["address"]
        self.workers = [self._worker() for _ in range(2)]

    def _start(self, *args: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *args, "--no-dashboard", "--host", "127.0.0.1"]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def _worker(self) -> subprocess.Popen[bytes]:
        return self._start("worker", self.address, "--nthreads", "1", "--no-nanny", "--death-timeout", "60")

    def kill_one(self, chance: random.Random) -> None:
        """One worker dies, a new one comes."""
        i = chance.randrange(len(self.workers))
        self.workers[i].kill()
        self.workers[i].wait()
        self.workers[i] = self._worker()

    def close(self) -> None:
        for p in (*self.workers, self.scheduler):
            p.kill()
            p.wait()


def drill(a: argparse.Namespace, place: Path) -> dict[str, float]:
    chance = random.Random(a.chance)
    runs = -(-a.runs // SEEDS) * SEEDS
    quiet = place / "quiet"
    began = time.monotonic()
    alone = [sys.executable, "-m", "validation.study", *_own(a, "threads"), "--child", str(quiet)]
    subprocess.run(alone, stdout=subprocess.DEVNULL, check=True)
    undisturbed = time.monotonic() - began

    cluster = Cluster(place) if a.workers == "dask" else None
    out = place / "out"
    more = ["--cluster", cluster.address] if cluster else []
    command = [sys.executable, "-m", "validation.study", *_own(a, a.workers), "--child", str(out), *more]
    moments = sorted(chance.randrange(runs) for _ in range(a.kills))
    began, starts, drivers, workers, torn = time.monotonic(), 0, 0, 0, 0
    try:
        while True:
            starts += 1
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            done = _Watch(process)
            while process.poll() is None:
                if moments and done.ran and done.runs >= moments[0]:
                    del moments[0]
                    time.sleep(chance.uniform(0.0, 0.3))
                    if cluster and (drivers + workers) % 2:
                        cluster.kill_one(chance)
                        workers += 1
                    else:
                        process.kill()
                        drivers += 1
                        break
                time.sleep(0.005)
            code = process.wait()
            torn += done.notes
            if code == 0:
                break
            if code != -signal.SIGKILL:
                raise SystemExit(f"the study ended with exit code {code}")
    finally:
        if cluster:
            cluster.close()
    disturbed = time.monotonic() - began
    return {
        "runs": runs, "starts": starts, "drivers killed": drivers, "workers killed": workers, **compared(out, quiet),
        "torn": torn, "seconds undisturbed": round(undisturbed, 1), "seconds with kills": round(disturbed, 1),
    }  # fmt: skip


def _own(a: argparse.Namespace, pool: str) -> list[str]:
    return ["--runs", str(a.runs), "--duration", a.duration, "--workers", pool]


class _Watch(threading.Thread):
    """Reads what the study says: how far it is, and what it found that is worth a note."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        super().__init__(daemon=True)
        self.runs, self.ran, self.notes = 0, False, 0
        self._lines = process.stdout
        self.start()

    def run(self) -> None:
        for line in self._lines or ():
            if line.startswith("note"):
                self.notes += "whole result" in line
                print(line, end="", file=sys.stderr)
            else:
                self.runs, reused = map(int, line.split())
                self.ran = self.runs > reused


def compared(out: Path, quiet: Path) -> dict[str, float]:
    """Compares both folders in DuckDB."""
    # Joined with the index by key and file, as docs/background/studies.md has it; and without it, which must come to the same now.
    db = duckdb.connect()
    for name, folder in (("a", out), ("b", quiet)):
        db.execute(f"CREATE VIEW {name}_rows AS SELECT * FROM '{folder}/*/*.parquet'")
        db.execute(f"CREATE VIEW {name}_index AS SELECT * FROM '{folder}/index.parquet'")

    def number(query: str) -> int:
        (value,) = db.execute(query).fetchone() or (0,)
        return int(value)

    once = "SELECT key FROM {}_rows WHERE \"table\" = 'run' AND metric = 'fingerprint'"
    return {
        "planned": number("SELECT count(*) FROM b_index"),
        "results": number(f"SELECT count(DISTINCT key) FROM ({once.format('a')})"),
        "lost": number(f"SELECT count(*) FROM (SELECT key FROM b_index EXCEPT {once.format('a')})"),
        "foreign": number(f"SELECT count(*) FROM ({once.format('a')} EXCEPT SELECT key FROM b_index)"),
        "twice": number(f"SELECT count(*) FROM (SELECT key FROM ({once.format('a')}) GROUP BY key HAVING count(*) > 1)"),
        "rows": number("SELECT count(*) FROM b_rows"),
        "rows that differ": number("SELECT count(*) FROM (SELECT * FROM a_rows EXCEPT ALL SELECT * FROM b_rows)")
        + number("SELECT count(*) FROM (SELECT * FROM b_rows EXCEPT ALL SELECT * FROM a_rows)"),
        "files": sum(1 for p in out.rglob("*.parquet")),
        "parts": sum(1 for p in (out / "parts").glob("*.parquet")),
        "left over": sum(1 for p in out.rglob("*.part")),
    }


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "Agg")
    sys.exit(main())
