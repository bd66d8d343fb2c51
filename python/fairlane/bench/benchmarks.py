"""The benchmark set P1-P10: CPU time and memory of each scenario in a fresh process.

`python -m fairlane.bench.benchmarks FILE [SETTINGS]` runs one scenario in this process, with settings as JSON (a path and its value in
TOML each), and prints its row as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..base.workers import end_with_stdin
from ..errors import FairlaneError, RunError, suggest

BENCH_SCHEMA = "fairlane.bench/1"


def scenarios() -> dict[str, Path]:
    """Returns the benchmark scenarios by name."""
    folder = Path(str(files("fairlane").joinpath("scenarios")))
    return {p.stem: p for p in sorted(folder.glob("P*.toml"), key=lambda p: (len(p.stem.rstrip("s")), p.stem))}


def choose(names: Iterable[str] = ()) -> dict[str, Path]:
    """Returns the scenarios with these names in upper or lower case; without names P1 to P10."""
    known = scenarios()
    lower = {n.lower(): n for n in known}
    wanted = list(names) or [n for n in known if n[1:].isdigit()]
    for name in wanted:
        if name.lower() not in lower:
            raise suggest(name, list(known), "benchmark scenario")
    return {lower[n.lower()]: known[lower[n.lower()]] for n in wanted}


def run_bench(
    names: Iterable[str] = (),
    *,
    repeat: int = 1,
    report: Callable[[dict[str, Any]], None] | None = None,
) -> dict[str, Any]:
    """Returns the document of `fairlane bench --json`: one row per scenario, the repetition with the least CPU time."""
    rows = []
    for name, path in choose(names).items():
        row = min((one(name, path) for _ in range(max(1, repeat))), key=lambda r: r["cpu_s"])
        rows.append(row)
        if report is not None:
            report(row)
    return {"schema": BENCH_SCHEMA, "fairlane": _version(), "results": rows}


def _version() -> str:
    from .. import _core

    return _core.version()


def one(name: str, path: Path, sets: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Returns the row of one scenario, measured in a fresh process; `sets` changes values by path."""
    from ..base.toml import value as as_toml

    settings = json.dumps([(key, as_toml(x)) for key, x in (sets or {}).items()])
    # The working directory may have a plug-in with the name of a standard module, such as queue.py.
    command = [sys.executable, "-P", "-m", "fairlane.bench.benchmarks", str(path), settings]
    places = [str(Path(__file__).resolve().parents[2]), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))}
    # Standard input is a pipe whose other end closes when this process ends.
    line, ours = os.pipe()
    try:
        with subprocess.Popen(command, stdin=line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=surroundings) as child:
            try:
                out, err = child.communicate()
            except BaseException:
                child.kill()
                raise
    finally:
        os.close(line)
        os.close(ours)
    if child.returncode:
        last = err.strip().splitlines()[-1:] or [f"exit code {child.returncode}"]
        raise RunError(f"{name} failed: {last[0]}")
    return {"scenario": name, **json.loads(out)}


def memory_kib(field: str) -> int:
    """Returns a line of the memory status of this process in KiB (Linux), otherwise its peak resident size."""
    try:
        for line in Path("/proc/self/status").read_text("ascii").splitlines():
            if line.startswith(f"{field}:"):
                return int(line.split()[1])
    except OSError:
        pass
    try:
        import resource
    except ImportError:  # Windows
        return 0

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 1024 if sys.platform == "darwin" else peak


def forget_peak() -> None:
    """Resets the peak of resident memory, if the kernel can (proc(5), clear_refs)."""
    try:
        Path("/proc/self/clear_refs").write_text("5", "ascii")
    except OSError:
        pass


def measure(path: str, settings: str = "[]") -> dict[str, Any]:
    """Runs one scenario in this process. Memory is the peak minus the memory after the imports."""
    from .. import _core

    text = Path(path).read_text("utf-8")
    sets = [(key, x) for key, x in json.loads(settings)]
    forget_peak()
    before = memory_kib("VmRSS")
    resolved = _core.resolve(text, path, "toml", sets)
    (run,) = _core.run(resolved, [], 1, False, None)
    peak = memory_kib("VmHWM")
    return {
        "packet_hops": run.packet_hops,
        "events": run.events,
        "cpu_s": run.cpu_s,
        "setup_s": run.setup_s,
        "ns_per_packet_hop": run.cpu_s * 1e9 / max(1, run.packet_hops),
        "peak_rss_mib": max(0, peak - before) / 1024,
        "fingerprint": run.fingerprint,
    }


if __name__ == "__main__":
    try:
        end_with_stdin()
        sys.stdout.write(json.dumps(measure(*sys.argv[1:3])) + "\n")
    except (FairlaneError, OSError) as e:
        sys.exit(str(e))
    except KeyboardInterrupt:
        sys.exit(130)
