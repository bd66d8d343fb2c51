"""`Simulation`: a run that a program advances step by step, inspects, changes and branches."""

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
from ..errors import ArgumentError, FairlaneError
from ..units import Duration, Quantity
from .listeners import Listener, Listeners, names
from .result import Result
from .state import Flow, Link, Names

if TYPE_CHECKING:
    from ..base.scenario import Built
    from .branches import BranchComparison

PS = 1e12
STEP = "1ms"
WAITING = ("move", "drop")
_PIECES = 50
"""Steps in which branches advance, so that Ctrl-C takes effect between them."""


def start(
    scenario: str | PathLike[str],
    seed: int | None = None,
    *,
    sets: Mapping[str, Any] | Iterable[tuple[str, str]] = (),
    why: bool = False,
) -> Simulation:
    """Creates a simulation of a scenario file at time 0, with this seed (default: that of the scenario); a `Network` has `start`.

    `sets` changes values by dotted path, as `--set` does. `why` records what limits flows, for `Result.why`.
    """
    return start_of(scenario, seed, sets, why)


def start_of(
    scenario: str | PathLike[str] | Built, seed: int | None, sets: Mapping[str, Any] | Iterable[tuple[str, str]] = (), why: bool = False
) -> Simulation:
    """Creates a simulation of a scenario file or network; see `start`."""
    resolved = checked(scenario, sets)
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**64):
        raise ArgumentError(f"invalid seed {seed!r}: a simulation takes one integer from 0 to 2^64 - 1")
    return Simulation(_core.Simulation(resolved, resolved.seed if seed is None else seed, why))


class Simulation:
    """One run under the control of a program. `fairlane.start` and `Network.start` create it.

    `advance` continues the run; `flows` and `links` show the current state; `result` returns the results so far; `set` changes the network;
    `branch` copies the state into a second run. Inspection and the number of steps do not change a run.

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
        """Number of a branch with its own random numbers, else None."""

    # --- advancing ------------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Simulated time in seconds."""
        return self._core.now / PS

    @property
    def duration(self) -> float:
        """End of the run in seconds."""
        return self._core.end / PS

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return self._core.seed

    @property
    def events(self) -> int:
        """Number of events so far."""
        return self._core.events

    @property
    def fingerprint(self) -> str:
        """Hash of the trajectory so far: equal for two runs that are identical up to now."""
        return self._core.fingerprint

    def advance(self, duration: Duration | str | None = None, *, to: Duration | str | None = None) -> None:
        """Advances by a `duration` such as "10s", `to` a time such as "30s", or by default to the end.

        The interpreter's lock is released meanwhile. Ctrl-C stops between two events; `advance` can continue from there.
        """
        self._go(self._target(duration, to))

    def _go(self, target: int) -> None:
        if self._ears is None:
            self._core.advance(target)
        else:
            self._ears.advance(target)

    def advance_until(
        self, condition: Callable[[Simulation], Any], *, step: Duration | str = STEP, limit: Duration | str | None = None
    ) -> bool:
        """Advances until `condition(simulation)` is true, tested now and after every `step`; returns True if it became true.

        It stops after `limit`, such as "5s", or at the end of the run.
        """
        by, end = _span(step, "step"), self._core.end if limit is None else self._target(limit, None)
        if by == 0:
            raise ArgumentError("a step must be longer than 0: write for instance step='1ms'")
        while not condition(self):
            now = self._core.now
            if now >= end:
                return False
            self._go(min(now + by, end))
        return True

    def _target(self, duration: Duration | str | None, to: Duration | str | None) -> int:
        if duration is not None and to is not None:
            raise ArgumentError("give a duration or an end time (to=), not both")
        now, end = self._core.now, self._core.end
        target = end if duration is None and to is None else now + _span(duration, "duration") if duration is not None else _span(to, "to")
        if target > end:
            raise ArgumentError(f"the run ends at {end / PS:g} s (now {now / PS:g} s): give the scenario a longer duration")
        if target < now:
            raise ArgumentError(f"cannot go back: the time is {now / PS:g} s already; take a branch before you advance")
        return target

    # --- listeners ------------------------------------------------------------------------------------

    def on(
        self,
        kind: str | Iterable[str],
        heard: Callable[[Any], object],
        *,
        link: str | Iterable[str] | None = None,
        flow: str | Iterable[str] | None = None,
        start: Duration | str | None = None,
        stop: Duration | str | None = None,
        batch: bool = False,
    ) -> Listener:
        """Calls `heard` with each event from now on: `sim.on("drop", print, link="bottleneck")`.

        `kind`: names of events as in event traces ("drop", "mark", "timeout", "window"...), one or several; `()` means all but "gauge".
        `link` and `flow`: names, one or several (a group stands for its flows). `start` and `stop`: times such as "10s". An event must
        match all given conditions.

        `heard` receives one `Event` at a time; the run pauses at that instant and may be inspected, changed and branched. With
        `batch=True` it receives a polars DataFrame of many events with the columns of event traces. An exception in `heard` stops
        `advance`, which can be called again. Listeners do not change results.
        """
        if self._ears is None:
            self._ears = Listeners(self, self._core)
        return self._ears.on(names(kind), names(flow), names(link), (_text(start), _text(stop)), batch, heard)

    def off(self, listener: Listener) -> None:
        """Removes a listener."""
        if self._ears is None:
            raise FairlaneError("this simulation has no listeners")
        self._ears.off(listener)

    @property
    def listeners(self) -> Sequence[Listener]:
        """Active listeners; a branch starts with none."""
        return [] if self._ears is None else list(self._ears.listeners.values())

    # --- state ----------------------------------------------------------------------------------------

    @property
    def flows(self) -> Mapping[str, Flow]:
        """Current state of the flows by name: `sim.flows["web.0"].tcp.cwnd`."""
        return Names(self._flows, lambda name, number: Flow(self, name, number), "flow")

    @property
    def links(self) -> Mapping[str, Link]:
        """Current state of the link directions by name: `sim.links["bottleneck"].queue.packets`."""
        return Names(self._links, lambda name, number: Link(self, name, number), "link")

    @property
    def scenario(self) -> dict[str, Any]:
        """Scenario with all changes so far, as if they had been made at the start."""
        tree: dict[str, Any] = json.loads(self._core.state())
        return tree

    def result(self) -> Result:
        """Returns the results so far, as `fairlane.run` returns them for the changed scenario that ends now."""
        resolved, run = self._core.result()
        return Result.from_runs(resolved, [run])

    # --- changes and branches -------------------------------------------------------------------------

    def set(self, path: str | Mapping[str, Any], value: Any = None, *, waiting: str = "move") -> None:
        """Changes a value by its path at the current time: `sim.set("links.bottleneck.rate", "2Mbit/s")`; or several, as a dict.

        Links can change their rate, delay, loss, duplicate and queue with all its parameters. Groups of flows can change their number,
        their stop, and their start if they have not started or have stopped: they restart with a new connection. Flows with the control
        `external` can change their window and pacing rate: "flows.NAME.tcp.cc.external.window". `waiting`: "move" the
        packets of a replaced queue to the new one, or "drop" them. Other changes are errors and have no effect. `[[at]]` in a scenario
        file does the same.
        """
        from ..base.spec import plain
        from ..base.toml import value as as_toml

        if waiting not in WAITING:
            raise ArgumentError(f"unknown value waiting={waiting!r}: write waiting='move' or waiting='drop'")
        values = path if isinstance(path, Mapping) else {path: value}
        if wrong := next((p for p, v in values.items() if v is None), None):
            raise ArgumentError(f"{wrong!r} has no value: write sim.set(path, value)")
        pairs = [(p, v if isinstance(v, str) else str(v) if isinstance(v, Quantity) else as_toml(plain(v))) for p, v in values.items()]
        self._core.set(pairs, waiting == "drop")

    def branch(self, number: int | None = None) -> Simulation:
        """Copies the state into a second run. It continues identically until something is changed; with a `number` it has its own random
        numbers."""
        return Simulation(self._core.branch(number), self.number if number is None else number)

    def branches(self, n: int, *, first: int = 1) -> Branches:
        """Returns `n` branches, numbered from `first`, each with its own random numbers from now on."""
        if n < 1:
            raise ArgumentError("there must be at least one branch")
        return Branches([self.branch(number) for number in range(first, first + n)])

    def compare(self, other: Simulation) -> BranchComparison:
        """Compares two branches of one simulation at the same time, metric by metric; see `BranchComparison`."""
        if not isinstance(other, Simulation):
            raise ArgumentError(f"cannot compare a simulation with {other!r}: give a simulation")
        return Branches([self]).compare(Branches([other]))

    def __copy__(self) -> Simulation:
        return self.branch()

    def __deepcopy__(self, _memo: object) -> Simulation:
        return self.branch()

    def __reduce_ex__(self, _protocol: object) -> Any:
        raise FairlaneError(
            f"{self!r} cannot be pickled: its state exists in this process only\n"
            "  = help: `branch()` copies it, `branches(n)` use all cores; equal seeds and changes give the same run elsewhere"
        )

    def __repr__(self) -> str:
        own = "" if self.number is None else f", branch {self.number}"
        return f"Simulation(at {self.time:g} s of {self.duration:g} s, seed {self.seed}{own})"


class Branches(Sequence[Simulation]):
    """Branches of one state, each with its own random numbers.

    `advance` advances all of them on all cores; `result` has one run per branch, so its means have intervals over the branches.
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

    def advance(self, duration: Duration | str | None = None, *, to: Duration | str | None = None, threads: int | None = None) -> None:
        """Advances all branches, as `Simulation.advance` does, `threads` at a time (0 or None: one per core)."""
        targets = [s._target(duration, to) for s in self._sims]
        stopped = Flag()

        def go(sim: Simulation, target: int) -> None:
            begun = sim._core.now
            for piece in range(1, _PIECES + 1):
                if not stopped.is_set():
                    sim._go(begun + (target - begun) * piece // _PIECES)

        with ThreadPoolExecutor(min(threads or available_threads(), len(self._sims)), "branch") as pool:
            try:
                for done in [pool.submit(go, s, t) for s, t in zip(self._sims, targets, strict=True)]:
                    done.result()
            finally:
                stopped.set()

    def set(self, path: str | Mapping[str, Any], value: Any = None, *, waiting: str = "move") -> None:
        """Changes all branches, as `Simulation.set` does."""
        for sim in self._sims:
            sim.set(path, value, waiting=waiting)

    def branch(self) -> Branches:
        """Returns a branch of each with the same random numbers, to change and compare."""
        return Branches([s.branch() for s in self._sims])

    def result(self) -> Result:
        """Returns the results so far, one run per branch; `seed` is the number of the branch."""
        parts = [s._core.result() for s in self._sims]
        numbers = [s.number if s.number is not None else i for i, s in enumerate(self._sims, 1)]
        return Result.from_runs(parts[0][0], [run for _, run in parts], numbers)

    def compare(self, other: Branches) -> BranchComparison:
        """Compares two equal sets of branches, pair by pair, metric by metric; see `BranchComparison`."""
        from .branches import BranchComparison

        if not isinstance(other, Branches):
            raise ArgumentError(f"cannot compare branches with {other!r}: give an equal set of branches")
        if len(self) != len(other):
            raise ArgumentError(f"the two sets need equal numbers of branches: they have {len(self)} and {len(other)}")
        for x, y in zip(self, other, strict=True):
            if (x.seed, x.number) != (y.seed, y.number):
                raise ArgumentError(f"{x!r} and {y!r} have different random numbers: compare branches of one simulation with equal numbers")
            if x.time != y.time:
                raise ArgumentError(f"one branch is at {x.time:g} s, the other at {y.time:g} s: advance both to the same time")
        return BranchComparison(self.result(), other.result())

    def __repr__(self) -> str:
        return f"Branches({len(self)} of seed {self._sims[0].seed} at {self._sims[0].time:g} s)"


def _text(time: Duration | str | None) -> str | None:
    return str(time) if isinstance(time, Duration) else time


def _span(text: Duration | str | None, what: str) -> int:
    if not isinstance(text, (Duration, str)):
        raise ArgumentError(f"{what} {text!r} has no unit: write it as text, such as {what}='10s'")
    return _core.picoseconds(str(text))
