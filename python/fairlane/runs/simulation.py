"""`Simulation`: a run in hand, which goes on as far as it is asked to, is looked at, changed and branched."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from os import PathLike
from threading import Event as Flag
from typing import TYPE_CHECKING, Any, overload

from .. import _core
from ..base.cores import available_threads
from ..base.scenario import checked
from ..errors import FairlaneError
from .listeners import Listener, Listeners, names
from .result import Result
from .state import Flow, Link, Names

if TYPE_CHECKING:
    from ..base.scenario import Built

PS = 1e12
STEP = "1ms"
WAITING = ("move", "drop")
_PIECES = 50
"""Parts of the way in which branches go on, so that Ctrl-C is heard in between."""


def start(
    scenario: str | PathLike[str] | Built,
    seed: int | None = None,
    *,
    sets: Mapping[str, Any] | Iterable[tuple[str, str]] = (),
    why: bool = False,
) -> Simulation:
    """The run of a scenario file or `Network` with this seed (by default the scenario's own), before anything has happened.

    `sets` changes values by dotted path, as `--set` does. `why`: what limits flows is watched, for `Result.why`.
    """
    resolved = checked(scenario, sets)
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**64):
        raise FairlaneError(f"a simulation has one seed, a whole number from 0 to 2^64 - 1, and not {seed!r}")
    return Simulation(_core.Simulation(resolved, resolved.seed if seed is None else seed, why))


class Simulation:
    """One run in hand. `fairlane.start` and `Network.start` begin one.

    `advance` goes on; `flows` and `links` tell what is now; `result` what came of it so far; `set` changes the network, `branch` gives
    the same state another future. Neither looking nor going on in pieces changes a run.

    >>> import fairlane as fl
    >>> net = fl.Network(duration="20s").link("a", "b", rate="1Mbit/s", delay="5ms").flow("web", "a", "b", tcp={})
    >>> sim = net.start(seed=1)
    >>> sim.advance("10s")
    >>> sim.time, sim.links["a-b"].queue.packets > 0
    (10.0, True)
    """

    def __init__(self, core: _core.Simulation, number: int | None = None) -> None:
        self._core = core
        self._flows, self._links = core.flow_names(), core.link_names()
        self._ears: Listeners | None = None
        self.number = number
        """Of a branch with random numbers of its own its number, else None."""

    # --- going on -------------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """The present in seconds of simulated time."""
        return self._core.now / PS

    @property
    def duration(self) -> float:
        """When the run is over, in seconds."""
        return self._core.end / PS

    @property
    def seed(self) -> int:
        """The seed."""
        return self._core.seed

    @property
    def events(self) -> int:
        """Events carried out so far."""
        return self._core.events

    @property
    def fingerprint(self) -> str:
        """A hash of the trajectory so far: two runs that are the same up to now have the same one."""
        return self._core.fingerprint

    def advance(self, duration: str | None = None, *, to: str | None = None) -> None:
        """Goes on by a `duration` such as "10s", `to` a time such as "30s", or without either to the end.

        The interpreter's lock is free meanwhile. Ctrl-C stops it between two events; it may go on from there.
        """
        self._go(self._target(duration, to))

    def _go(self, target: int) -> None:
        if self._ears is None:
            self._core.advance(target)
        else:
            self._ears.advance(target)

    def advance_until(self, condition: Callable[[Simulation], Any], *, step: str = STEP, limit: str | None = None) -> bool:
        """Goes on until `condition(simulation)` holds, which is asked now and after every `step`; whether it did.

        At the latest after `limit`, such as "5s", or at the end of the run.
        """
        by, end = _span(step, "step"), self._core.end if limit is None else self._target(limit, None)
        if by == 0:
            raise FairlaneError("a step of 0 leads nowhere: write for instance step='1ms'")
        while not condition(self):
            now = self._core.now
            if now >= end:
                return False
            self._go(min(now + by, end))
        return True

    def _target(self, duration: str | None, to: str | None) -> int:
        if duration is not None and to is not None:
            raise FairlaneError("write how long to go on, or to which time, and not both")
        now, end = self._core.now, self._core.end
        target = end if duration is None and to is None else now + _span(duration, "duration") if duration is not None else _span(to, "to")
        if target > end:
            raise FairlaneError(f"the run is over at {end / PS:g} s, and now it is {now / PS:g} s: give the scenario a longer duration")
        if target < now:
            raise FairlaneError(f"it is {now / PS:g} s already: a run does not go back; take a branch before it goes on")
        return target

    # --- listening ------------------------------------------------------------------------------------

    def on(
        self,
        kind: str | Iterable[str],
        heard: Callable[[Any], object],
        *,
        link: str | Iterable[str] | None = None,
        flow: str | Iterable[str] | None = None,
        start: str | None = None,
        stop: str | None = None,
        batch: bool = False,
    ) -> Listener:
        """Calls `heard` from now on with what happens: `sim.on("drop", print, link="bottleneck")`.

        `kind`: names of events as in event tables ("drop", "mark", "timeout", "window"...), one or several; none, as in `()`: all
        but "gauge". `link` and `flow` are names, one or several (a group stands for its flows); `start` and `stop` times such as "10s".
        Each that is given has to match.

        An `Event` at a time: the run stands still at that instant meanwhile, and may be looked at, changed and branched. With
        `batch=True` a polars DataFrame of many events with the columns of event tables. What `heard` raises stops `advance`, which may
        be called again. Listening changes no result.
        """
        if self._ears is None:
            self._ears = Listeners(self, self._core)
        return self._ears.on(names(kind), names(flow), names(link), (start, stop), batch, heard)

    def off(self, listener: Listener) -> None:
        """That listener hears no more."""
        if self._ears is None:
            raise FairlaneError("nobody listens to this simulation")
        self._ears.off(listener)

    @property
    def listeners(self) -> Sequence[Listener]:
        """Who listens. A branch begins without anybody."""
        return [] if self._ears is None else list(self._ears.listeners.values())

    # --- looking --------------------------------------------------------------------------------------

    @property
    def flows(self) -> Mapping[str, Flow]:
        """The flows by name, as they are now: `sim.flows["web.0"].tcp.cwnd`."""
        return Names(self._flows, lambda name, number: Flow(self, name, number), "flow")

    @property
    def links(self) -> Mapping[str, Link]:
        """The directions of links by name, as they are now: `sim.links["bottleneck"].queue.packets`."""
        return Names(self._links, lambda name, number: Link(self, name, number), "link")

    @property
    def scenario(self) -> dict[str, Any]:
        """The scenario as it stands, every change included as if it had been so from the beginning."""
        tree: dict[str, Any] = json.loads(self._core.state())
        return tree

    def result(self) -> Result:
        """What came of it so far, as `fairlane.run` gives it: that of a scenario which ends now, with the changes that were made."""
        resolved, run = self._core.result()
        return Result.from_runs(resolved, [run])

    # --- other futures --------------------------------------------------------------------------------

    def set(self, path: str | Mapping[str, Any], value: Any = None, *, waiting: str = "move") -> None:
        """Changes a value by its path, now: `sim.set("links.bottleneck.rate", "2Mbit/s")`; or several at once, as a dict.

        Links may change their rate, delay, loss, duplicate and queue with all its parameters; groups of flows
        their number, their stop, and their start if they have not begun or have stopped: they begin again with a new connection.
        `waiting`: packets in a queue that is replaced "move" to the new one, or are to "drop". Anything else is refused, and then nothing
        has changed. The same as `[[at]]` in a scenario file.
        """
        from ..base.spec import plain
        from ..base.toml import value as as_toml

        if waiting not in WAITING:
            raise FairlaneError(f"packets that wait {waiting!r}? write waiting='move' or waiting='drop'")
        values = path if isinstance(path, Mapping) else {path: value}
        if wrong := next((p for p, v in values.items() if v is None), None):
            raise FairlaneError(f"{wrong!r} has no value: write sim.set(path, value)")
        pairs = [(p, v if isinstance(v, str) else as_toml(plain(v))) for p, v in values.items()]
        self._core.set(pairs, waiting == "drop")

    def branch(self, number: int | None = None) -> Simulation:
        """The same past with its own future: the same as long as nothing is changed, or with a `number` that of other random numbers."""
        return Simulation(self._core.branch(number), self.number if number is None else number)

    def branches(self, n: int, *, first: int = 1) -> Branches:
        """`n` branches, each with its own random numbers from now on (those of the numbers from `first` on), which go on together."""
        if n < 1:
            raise FairlaneError("there must be at least one branch")
        return Branches([self.branch(number) for number in range(first, first + n)])

    def __copy__(self) -> Simulation:
        return self.branch()

    def __deepcopy__(self, _memo: object) -> Simulation:
        return self.branch()

    def __reduce_ex__(self, _protocol: object) -> Any:
        raise FairlaneError(
            f"{self!r} cannot be pickled: the state of a run lives in this process\n"
            "  = help: `branch()` copies it, `branches(n)` go on on all cores; the same seed and changes give the same run elsewhere"
        )

    def __repr__(self) -> str:
        own = "" if self.number is None else f", branch {self.number}"
        return f"Simulation(at {self.time:g} s of {self.duration:g} s, seed {self.seed}{own})"


class Branches(Sequence[Simulation]):
    """Branches of one state, each with its own random numbers: what happens from here on, in so many futures?

    `advance` goes on with all of them on all cores; `result` has one run for each, so that its means have intervals over the futures.
    """

    def __init__(self, sims: Sequence[Simulation]) -> None:
        self._sims = list(sims)

    @overload
    def __getitem__(self, index: int) -> Simulation: ...
    @overload
    def __getitem__(self, index: slice) -> Branches: ...
    def __getitem__(self, index: int | slice) -> Simulation | Branches:
        return Branches(self._sims[index]) if isinstance(index, slice) else self._sims[index]

    def __len__(self) -> int:
        return len(self._sims)

    def advance(self, duration: str | None = None, *, to: str | None = None, threads: int | None = None) -> None:
        """Goes on with all of them, as `Simulation.advance` does, `threads` at a time (0 or None: one a core)."""
        targets = [s._target(duration, to) for s in self._sims]
        stopped = Flag()

        def go(sim: Simulation, target: int) -> None:
            begun = sim._core.now
            for piece in range(1, _PIECES + 1):
                if not stopped.is_set():
                    sim._go(begun + (target - begun) * piece // _PIECES)

        with ThreadPoolExecutor(min(threads or available_threads(), len(self._sims)), "branch") as crew:
            try:
                for done in [crew.submit(go, s, t) for s, t in zip(self._sims, targets, strict=True)]:
                    done.result()
            finally:
                stopped.set()

    def set(self, path: str | Mapping[str, Any], value: Any = None, *, waiting: str = "move") -> None:
        """Changes all of them, as `Simulation.set` does."""
        for sim in self._sims:
            sim.set(path, value, waiting=waiting)

    def branch(self) -> Branches:
        """A branch of each with the same random numbers: to change them, and compare."""
        return Branches([s.branch() for s in self._sims])

    def result(self) -> Result:
        """What came of them so far, a run for each; `seed` is the number of the branch."""
        parts = [s._core.result() for s in self._sims]
        numbers = [s.number if s.number is not None else i for i, s in enumerate(self._sims, 1)]
        return Result.from_runs(parts[0][0], [_Numbered(run, n) for n, (_, run) in zip(numbers, parts, strict=True)])

    def __repr__(self) -> str:
        return f"Branches({len(self)} of seed {self._sims[0].seed} at {self._sims[0].time:g} s)"


class _Numbered:
    """A run under another number than its seed."""

    def __init__(self, run: _core.Run, number: int) -> None:
        self._run, self.seed = run, number

    def __getattr__(self, name: str) -> Any:
        return getattr(self._run, name)


def _span(text: str | None, what: str) -> int:
    if not isinstance(text, str):
        raise FairlaneError(f"{what} {text!r} has no unit: write it as text, such as {what}='10s'")
    return _core.picoseconds(text)
