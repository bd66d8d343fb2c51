"""The log of `--verbose` on standard error: inputs, warnings with their places, timings."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..base.escapes import one_line
from ..base.stdin import StandardInput, read

if TYPE_CHECKING:
    from .. import _core
    from ..runs.result import Result

_MAX_RUNS = 20
_KEYS = {"coarse-sampling": "sample", "short-measurement": "duration"}
"""The key to change for a warning; other warnings name a flow or a link."""
_HEADER = r"^\s*\[+\s*{}\s*\.\s*[\"']?{}[\"']?\s*[\].]"


_BAR = re.compile(r"\[#*\.*\] *")
_FIGURES = re.compile(r"[\d.,%]+")


def given(file: str) -> str | StandardInput:
    """Returns the scenario of the command line: a path, or standard input."""
    return read() if file == "-" else file


def count(n: int, word: str) -> str:
    """Returns a number and its noun.

    >>> count(1, "seed"), count(3, "seed")
    ('1 seed', '3 seeds')
    """
    return f"{n} {word}{'s' * (n != 1)}"


class Log:
    """Lines with the time since the start of the command; silent if off."""

    def __init__(self, on: bool) -> None:
        self.on = on
        self._told, self._kind = 0.0, ""
        self._began = time.monotonic()
        self._text = ""
        self._name = ""

    def say(self, text: str) -> None:
        """Prints one line."""
        if self.on:
            sys.stderr.write(f"{time.monotonic() - self._began:8.3f} s  {one_line(text)}\n")
            sys.stderr.flush()

    def step(self, text: str) -> None:
        """Prints the progress: a new kind of work at once, otherwise one line per second."""
        text, now = _BAR.sub("", text).strip(), time.monotonic()
        kind = _FIGURES.sub("", text)
        if text and (kind != self._kind or now - self._told >= 1):
            self._told, self._kind = now, kind
            self.say(text)

    def read(self, source: str | StandardInput, changes: list[tuple[str, str]]) -> None:
        """Logs the scenario and its changes before the check."""
        if not self.on:
            return
        if isinstance(source, StandardInput):
            self._name, self._text = source.shown, source.text
        else:
            self._name = source
            try:
                self._text = Path(source).read_text("utf-8") if Path(source).is_file() else ""
            except (OSError, UnicodeDecodeError):
                return  # the check reports the error
        self.say(f"read {self._name}" + (f": {count(self._text.count(chr(10)), 'line')}" if self._text else ""))
        for path, value in changes:
            self.say(f"set {path} = {value}")

    def checked(self, resolved: _core.Resolved) -> None:
        """Logs the size and the duration of the checked scenario."""
        if not self.on:
            return
        from .. import _core

        tree: dict[str, Any] = json.loads(resolved.json(expanded=False))
        sizes = ", ".join(count(n, word) for n, word in zip(resolved.sizes, ("node", "direction", "flow"), strict=True))
        sampled = f"a sample every {tree['sample']}" if tree.get("sample") else "no time series"
        self.say(f"checked: {sizes}; {tree['duration']}, of which {tree['warmup']} warm-up; {sampled}")
        self.say(f"engine {_core.version()}+{_core.engine()}")

    def ran(self, result: Result, seconds: float) -> None:
        """Logs the cost of each run, and the warnings with their places."""
        if not self.on:
            return
        self.say(f"ran {count(len(result.info), 'seed')} in {seconds:.3f} s")
        for r in result.info[:_MAX_RUNS]:
            cost = f"{r['setup_s']:.3f} s to build, {r['cpu_s']:.3f} s of CPU to run"
            self.say(
                f"  seed {r['seed']}: {cost}, {r['packet_hops']} packet-hops, {r['events']} events, at most {r['peak_packets']} packets"
            )
        if len(result.info) > _MAX_RUNS:
            self.say(f"  and {len(result.info) - _MAX_RUNS} more")
        self.warnings(result.warnings)

    def warnings(self, warnings: Iterable[object]) -> None:
        """Logs the warnings of a result with their places."""
        if not self.on:
            return
        several = list(warnings)
        for w in several:
            code = getattr(w, "code", "")
            self.say(f"warning[{code or 'kept'}]{self._place(str(w), code)}: {w}")
        codes = ": docs/reference/diagnostics.md lists the codes" if several else ""
        self.say(f"{count(len(several), 'warning')}{codes}" if several else "no warnings")

    def done(self) -> None:
        """Logs the end of the command."""
        self.say("done")

    def _place(self, text: str, code: str) -> str:
        """Returns the line of the flow, link or key that a warning is about; "" if the file has none."""
        names = [n.partition(".")[0] for n in re.findall(r"[`'\"]([^`'\"]+)[`'\"]|(?:flow|link) ([\w.-]+)", text) for n in n if n]
        patterns = [rf"^\s*{_KEYS[code]}\s*="] if code in _KEYS else []
        patterns += [_HEADER.format(table, re.escape(name)) for name in names for table in ("flows", "links")]
        for pattern in patterns:
            if found := re.search(pattern, self._text, re.M):
                return f" at {self._name}:{self._text.count(chr(10), 0, found.end()) + 1}"
        return ""


def _begin(ctx: click.Context, _param: click.Parameter, on: bool) -> None:
    ctx.meta["fairlane.log"] = Log(on)


verbose_option = click.option(
    "--verbose", "-v", is_flag=True, callback=_begin, expose_value=False, is_eager=True,
    help="Log inputs, warnings and timings to standard error.",
)  # fmt: skip
"""The option of every command that runs scenarios; `current` returns its log."""


def current() -> Log:
    """Returns the log of the running command; silent if it has none."""
    context = click.get_current_context(silent=True)
    log = context.meta.get("fairlane.log") if context is not None else None
    return log if isinstance(log, Log) else Log(False)
