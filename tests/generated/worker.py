"""A process that runs scenarios one after the other, and may hang or crash without taking the tests along."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

import fairlane

from .trial import Outcome

ENOUGH = 30
"""Seconds of processor time in which a scenario ends, however busy the machine is: a hundred times what one takes."""
PATIENCE = 900
"""Seconds on the clock, for a process that waits for nothing."""
HERE = Path(__file__).resolve().parents[1]


def work() -> None:
    """Answers each line, a number or a scenario, with its outcome."""
    import resource

    from .shapes import scenario
    from .trial import trial

    for line in sys.stdin:
        asked = json.loads(line)
        used = resource.getrusage(resource.RUSAGE_SELF)
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + ENOUGH, hard))
        tree, wrong = scenario(asked) if isinstance(asked, int) else (asked, [])
        # The tree first, which is all that is known of one that does not end.
        print(json.dumps(tree), flush=True)
        found = trial(tree, wrong)
        print(json.dumps(vars(found)), flush=True)


class Worker:
    """The worker process, restarted if it ends."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._read = b""

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._process:
            self._process.kill()
            self._process.communicate()

    def _begin(self) -> subprocess.Popen[bytes]:
        path = os.pathsep.join([str(HERE), str(Path(fairlane.__file__).parents[1])])
        env = {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-c", "from generated.worker import work; work()"]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)

    def ask(self, what: int | dict[str, Any]) -> Outcome:
        """Returns the outcome of a scenario, given by its number or as a tree."""
        process = self._process = self._process or self._begin()
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write(json.dumps(what).encode() + b"\n")
        process.stdin.flush()
        tree: dict[str, Any] = what if isinstance(what, dict) else {}
        for _ in range(2):
            line = self._line(process)
            if line is None:
                self._process = None
                process.kill()
                output = process.communicate()[1].decode(errors="replace").strip().splitlines()
                return Outcome("run", tree, [self._end(process.returncode, output[-1] if output else "")])
            tree = json.loads(line)
        return Outcome(**tree)

    def _line(self, process: subprocess.Popen[bytes]) -> bytes | None:
        assert process.stdout
        while b"\n" not in self._read:
            if not select.select([process.stdout], [], [], PATIENCE)[0] or not (more := os.read(process.stdout.fileno(), 65536)):
                self._read = b""
                return None
            self._read += more
        line, _, self._read = self._read.partition(b"\n")
        return line

    @staticmethod
    def _end(code: int, output: str) -> str:
        if code == -signal.SIGXCPU:
            return f"end: the run does not end in {ENOUGH} s of processor time"
        if code == -signal.SIGKILL:
            return f"end: nothing comes of it in {PATIENCE} s"
        if code < 0:
            return f"crash: signal {-code} ({signal.Signals(-code).name}) {output}"
        return f"crash: exit code {code}: {output}"
