"""`--verbose`: what is read, what is doubtful and where, what takes how long; on standard error, so that documents stay clean."""

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
"""The key that a warning asks to change; of others the flow or link that they name is shown."""
_HEADER = r"^\s*\[+\s*{}\s*\.\s*[\"']?{}[\"']?\s*[\].]"


_BAR = re.compile(r"\[#*\.*\] *")
_FIGURES = re.compile(r"[\d.,%]+")


def given(file: str) -> str | StandardInput:
    """The scenario of the command line: a path, or what came through the pipe."""
    return read() if file == "-" else file


def count(n: int, word: str) -> str:
    """A number and its noun.

    >>> count(1, "seed"), count(3, "seed")
    ('1 seed', '3 seeds')
    """
    return f"{n} {word}{'s' * (n != 1)}"


class Log:
    """Lines with the time since the command began; silent unless asked for."""

    def __init__(self, on: bool) -> None:
        self.on = on
        self._told, self._kind = 0.0, ""
        self._began = time.monotonic()
        self._text = ""
        self._name = ""

    def say(self, text: str) -> None:
        """One line."""
        if self.on:
            sys.stderr.write(f"{time.monotonic() - self._began:8.3f} s  {one_line(text)}\n")
            sys.stderr.flush()

    def step(self, text: str) -> None:
        """How far the work is: what is new in kind at once, else a line a second, where a terminal would have one line that changes."""
        text, now = _BAR.sub("", text).strip(), time.monotonic()
        kind = _FIGURES.sub("", text)
        if text and (kind != self._kind or now - self._told >= 1):
            self._told, self._kind = now, kind
            self.say(text)

    def read(self, source: str | StandardInput, changes: list[tuple[str, str]]) -> None:
        """What is about to be checked."""
        if not self.on:
            return
        if isinstance(source, StandardInput):
            self._name, self._text = source.shown, source.text
        else:
            self._name = source
            try:
                self._text = Path(source).read_text("utf-8") if Path(source).is_file() else ""
            except (OSError, UnicodeDecodeError):
                return  # the checks say what is wrong
        self.say(f"read {self._name}" + (f": {count(self._text.count(chr(10)), 'line')}" if self._text else ""))
        for path, value in changes:
            self.say(f"set {path} = {value}")

    def checked(self, resolved: _core.Resolved) -> None:
        """What the scenario is."""
        if not self.on:
            return
        from .. import _core

        tree: dict[str, Any] = json.loads(resolved.json(expanded=False))
        sizes = ", ".join(count(n, word) for n, word in zip(resolved.sizes, ("node", "direction", "flow"), strict=True))
        sampled = f"a sample every {tree['sample']}" if tree.get("sample") else "no time series"
        self.say(f"checked: {sizes}; {tree['duration']}, of which {tree['warmup']} warm-up; {sampled}")
        self.say(f"engine {_core.version()}+{_core.engine()}")

    def ran(self, result: Result, seconds: float) -> None:
        """What each run took, and the warnings with their places."""
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
        self.doubts(result.warnings)

    def doubts(self, warnings: Iterable[str]) -> None:
        """The warnings of a result with their places."""
        if not self.on:
            return
        several = list(warnings)
        for w in several:
            code = getattr(w, "code", "")
            self.say(f"warning[{code or 'kept'}]{self._place(w, code)}: {w}")
        codes = ": docs/reference/diagnostics.md has their codes" if several else ""
        self.say(f"{count(len(several), 'warning')}{codes}" if several else "no warnings")

    def done(self) -> None:
        """The end."""
        self.say("done")

    def _place(self, text: str, code: str) -> str:
        """The line of the flow, link or key that a warning is about, if the file has one."""
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
    help="Say on standard error what is read, what is doubtful and where, and what takes how long.",
)  # fmt: skip
"""The option of every command that runs scenarios; `current` is what it began."""


def current() -> Log:
    """The log of the command that runs; silent where there is none."""
    context = click.get_current_context(silent=True)
    log = context.meta.get("fairlane.log") if context is not None else None
    return log if isinstance(log, Log) else Log(False)
