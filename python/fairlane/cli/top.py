"""The command `top`: live statistics of a run on a terminal."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from ..base.escapes import json_safe, one_line
from ..errors import FairlaneError, ScenarioError
from . import completion
from .file_kinds import other_kind
from .log import given
from .output import assignments, emit, emit_pieces, plugin_option, render, safe_console
from .seeds import SEED

if TYPE_CHECKING:
    from ..runs.simulation import Simulation
    from ..runs.top import Top

_FRAME = 0.1
"""Seconds between two frames."""
_SPEEDS = (0.001, 0.01, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, float("inf"))
"""Simulated seconds per second."""
_KEYS = "space pause   s step   + - faster, slower   m full speed   q quit"
_MOST = 100_000
"""Largest number of snapshots printed of one run."""


@click.command()
@click.argument("file", shell_complete=completion.scenarios)
@completion.set_option("Change any value: links.bottleneck.queue.red.min=10p.")
@click.option("--seed", type=SEED, metavar="N", help="Seed of the run (default: the scenario's).")
@click.option("--speed", default="1", show_default=True, metavar="X", help="Simulated seconds per second, or max.")
@click.option("--step", default="10ms", show_default=True, metavar="TIME", help="Simulated time per press of the key s.")
@click.option(
    "--every", default="1s", show_default=True, metavar="TIME", help="In a pipe and with --json: simulated time between two tables."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document with a snapshot at each --every; no display.")
@plugin_option
def top(file: str, sets: tuple[str, ...], seed: int | None, speed: str, step: str, every: str, as_json: bool) -> None:
    """Run a scenario in the terminal with live queue, flow and rate statistics.

    Keys: space pauses, s advances one step, + and - change the speed, m is full speed, q quits. At the end it waits for q.

    In a pipe it prints one table per second of simulated time, at full speed. The run is the same as with `fairlane run`.
    """
    from .. import _core
    from ..base.scenario import checked
    from ..runs.simulation import Simulation
    from ..runs.top import Top

    factor = _speed(speed)
    spans = {"--step": _core.picoseconds(step), "--every": _core.picoseconds(every)}
    for option, span in spans.items():
        if span == 0:
            raise FairlaneError(f"{option} must be above 0, such as {option} 10ms")
    try:
        resolved = checked(given(file), assignments(sets))
    except ScenarioError as e:
        raise other_kind(file, e, "scenario") from None
    sim = Simulation(_core.Simulation(resolved, resolved.seed if seed is None else seed))
    live = sys.stdout.isatty() and not as_json
    if not live and sim._core.end // spans["--every"] > _MOST:
        raise FairlaneError(f"--every {every} gives more than {_MOST} tables: use a longer time")
    if as_json:
        emit_pieces(_pieces(sim, spans["--every"]))
    elif live:
        _Screen(sim, factor, spans["--step"]).show()
        emit(_text(sim, Top(sim), head=True))
    else:
        _tables(sim, spans["--every"])


def _speed(text: str) -> float:
    if text.strip() == "max":
        return float("inf")
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if not 1e-6 <= factor <= 1e6:
        raise FairlaneError(f"cannot read --speed {text!r}: write simulated seconds per second, from 0.000001 to 1000000, or max")
    return factor


def _stops(sim: Simulation, every: int) -> Iterator[int]:
    """Yields times in picoseconds, up to and including the end."""
    yield from range(0, sim._core.end, every)
    yield sim._core.end


def _pieces(sim: Simulation, every: int) -> Iterator[str]:
    from .. import _core
    from ..base.document import finite
    from ..runs.top import TOP_SCHEMA, Top

    head = {"schema": TOP_SCHEMA, "fairlane": _core.version(), "name": sim.scenario.get("name"), "seed": sim.seed, "duration": sim.duration}
    yield json.dumps(head, indent=1, ensure_ascii=False).removesuffix("\n}") + ',\n "looks": ['
    lead, looks = "\n  ", Top(sim)
    for at in _stops(sim, every):
        sim._go(at)
        yield lead + json_safe(json.dumps(finite(looks.look().document()), ensure_ascii=False, allow_nan=False))
        lead = ",\n  "
    yield f'\n ],\n "fingerprint": "{sim.fingerprint}"\n}}\n'


def _tables(sim: Simulation, every: int) -> None:
    from ..runs.top import Top

    looks = Top(sim)
    for at in _stops(sim, every):
        sim._go(at)
        emit(_text(sim, looks, head=True) + "\n")


def _head(sim: Simulation, more: str = "", width: int | None = None) -> str:
    """Returns the name, the time and `more`; a name that is too long for `width` is shortened."""
    name = one_line(sim.scenario.get("name") or "run")
    rest = f": {sim.time:.3f} s of {sim.duration:g} s, seed {sim.seed}{more}"
    if width is not None and len(name) + len(rest) > width:
        name = f"{name[: max(1, width - len(rest) - 1)]}\N{HORIZONTAL ELLIPSIS}"
    return name + rest


def _text(sim: Simulation, looks: Top, *, head: bool) -> Any:
    from ..look.sheet import Words
    from ..runs.top import sheets

    links, flows = sheets(looks.look())
    return render(*([Words(_head(sim))] if head else []), links, "", flows)


class _Screen:
    """The live display."""

    def __init__(self, sim: Simulation, speed: float, step: int) -> None:
        from ..runs.top import Top

        self.sim, self.speed, self.step = sim, speed, step
        self.looks = Top(sim)
        self.looks.look()
        self.paused = self.quit = False
        self.behind = False
        self.chunk = step

    def show(self) -> None:
        from rich.live import Live

        console = safe_console(file=sys.stdout, force_terminal=True)
        with _keys() as keys, Live(console=console, screen=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False) as live:
            while not self.quit:
                begun = time.monotonic()
                if not self.paused:
                    self.go(begun)
                live.update(self.picture(), refresh=True)
                over = self.sim._core.now >= self.sim._core.end
                if over and keys is None:
                    return
                left = max(0.0, begun + _FRAME - time.monotonic())
                for key in _pressed(keys, None if over or self.paused else left):
                    self.press(key)

    def press(self, key: str) -> None:
        core = self.sim._core
        if key in ("q", "\x1b"):
            self.quit = True
        elif key == " ":
            self.paused = not self.paused
        elif key == "s":
            self.paused = True
            self.sim._go(min(core.now + self.step, core.end))
        elif key == "m":
            self.speed = _SPEEDS[-1]
        elif key in ("+", "=", ">"):
            self.speed = next((x for x in _SPEEDS if x > self.speed), self.speed)
        elif key in ("-", "_", "<"):
            self.speed = next((x for x in reversed(_SPEEDS) if x < self.speed), self.speed)

    def go(self, begun: float) -> None:
        """Advances the run by the simulated time of a frame, or as far as it gets within the frame."""
        core = self.sim._core
        target = core.end if self.speed == float("inf") else min(core.end, core.now + int(self.speed * _FRAME * 1e12))
        self.behind = False
        while core.now < target:
            if time.monotonic() - begun > _FRAME:
                self.behind = self.speed != float("inf")
                return
            before = time.monotonic()
            self.sim._go(min(target, core.now + self.chunk))
            spent = time.monotonic() - before
            # A few milliseconds of work per piece, so that keys are read soon.
            self.chunk = max(1_000_000, int(self.chunk * (2.0 if spent < _FRAME / 20 else 0.5 if spent > _FRAME / 4 else 1.0)))
            self.chunk = min(self.chunk, max(1, core.end))

    def picture(self) -> Any:
        from rich.console import Group
        from rich.text import Text

        from ..runs.top import bar, sheets

        size = shutil.get_terminal_size((80, 24))
        links, flows = sheets(self.looks.look(), size.lines)
        over = self.sim._core.now >= self.sim._core.end
        speed = "full speed" if self.speed == float("inf") else f"{self.speed:g} s per second"
        what = "finished" if over else "paused" if self.paused else speed + (", as fast as it can" if self.behind else "")
        done = bar(self.sim.time / self.sim.duration, max(4, min(20, (size.columns - 50) // 2)))
        head = Text(_head(self.sim, f" [{done}] {what}", size.columns), style="bold", no_wrap=True, overflow="ellipsis")
        return Group(head, "", links, "", flows, "", Text(_KEYS, style="dim", no_wrap=True, overflow="ellipsis"))


@contextmanager
def _keys() -> Iterator[int | None]:
    """Yields the file descriptor that keys are read from; None without a terminal."""
    try:
        import termios
        import tty
    except ImportError:
        yield None
        return
    if not sys.stdin.isatty():
        yield None
        return
    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    try:
        tty.setcbreak(fd)
        yield fd
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)


def _pressed(keys: int | None, wait: float | None) -> str:
    """Returns the keys pressed within `wait` seconds; None waits for a key or a new size of the screen."""
    if keys is None:
        time.sleep(wait or 0.0)
        return ""
    import select

    ready, _, _ = select.select([keys], [], [], 1.0 if wait is None else wait)
    if not ready:
        return ""
    got = os.read(keys, 64)
    return got.decode(errors="ignore") if got else "q"
