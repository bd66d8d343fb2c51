"""A network that is checked once and run with many values."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from .. import _core
from ..base.cores import available_threads
from ..base.extras import need
from ..base.metrics import metrics_in
from ..base.notices import warn
from ..base.paths import split
from ..base.scenario import checked_pairs
from ..base.seeds import either, parse_seeds
from ..errors import ArgumentError, ScenarioWarning, UnknownNameError, short, suggest
from ..own.plugin import announced
from ..stats import Interval, interval
from . import selection
from .result import Progress, Result
from .selection import Selector

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

Values = Mapping[str, Any]
"""Values by path, as `Network.set` takes them."""
Seeds = int | str | Iterable[int] | None


class Prepared:
    """A network whose scenario is checked once, and that runs with other values of some paths.

    A run gives the numbers of `net.replace(values).run(seeds)`, with less time around the simulation. A wrong path or value is the
    `ScenarioError` of `--set`. Later changes of the network have no effect. Threads may share it.

    >>> from fairlane import Network
    >>> net = Network(duration="2s").link("a", "b", name="line", rate="1Mbit/s", delay="5ms").flow("up", "a", "b", tcp="newreno")
    >>> prepared = net.prepare(vary=["links.line.rate"])
    >>> runs = prepared.run([{"links.line.rate": f"{n}Mbit/s"} for n in (1, 2)], seeds=3, want=["flows.up.goodput"])
    >>> runs
    PreparedRuns(2 points, 3 seeds, flows.up.goodput)
    >>> round(runs.value("flows.up.goodput", point=1).mean / runs.value("flows.up.goodput").mean)
    2
    """

    def __init__(self, text: str, name: str, form: str, vary: Iterable[str] = ()) -> None:
        """Checks a scenario text; `Network.prepare` does it for a network."""
        self._source = text, name, form
        self.vary = tuple([vary] if isinstance(vary, str) else vary)
        """Paths that may vary; () for any."""
        for path in self.vary:
            if split(path) is None:
                raise ArgumentError(f"cannot vary {path!r}: not a path; write for instance links.bottleneck.rate")
        self._wanted: dict[tuple[str, ...], tuple[Selector, ...]] = {}
        self._warned: set[str] = set()
        self._made()
        self._core.resolve([])  # Raises all that is wrong.

    def _made(self) -> _core.Prepared:
        """Returns the prepared scenario; a plug-in that has been loaded since then is found."""
        if getattr(self, "_times", None) != announced.times:
            self._core, self._times = _core.Prepared(*self._source, []), announced.times
        return self._core

    @overload
    def run(
        self,
        values: Values | None = None,
        seeds: Seeds = None,
        *,
        want: None = None,
        seed: int | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Result: ...
    @overload
    def run(
        self,
        values: Iterable[Values],
        seeds: Seeds = None,
        *,
        want: None = None,
        seed: int | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Result]: ...
    @overload
    def run(
        self,
        values: Values | Iterable[Values] | None = None,
        seeds: Seeds = None,
        *,
        want: str | Iterable[str],
        seed: int | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> PreparedRuns: ...
    def run(
        self,
        values: Values | Iterable[Values] | None = None,
        seeds: Seeds = None,
        *,
        want: str | Iterable[str] | None = None,
        seed: int | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Result | list[Result] | PreparedRuns:
        """Runs one point, or many points on all cores in one call. A point is a dict of values by path.

        `want`: metrics such as "flows.upload.goodput", "links.line.reverse.drops" or "network.jain", as in studies: a group of flows stands
        for the mean of its members, or `.sum`, `.min`, `.max` or `.jain`. Only these are computed. Without it, a point gives a `Result`
        and a list of points a list of them. `seeds`, `seed`, `threads` and `progress` are those of `fairlane.run`. All points are checked
        before anything runs. Each warning is issued once.
        """
        alone = values is None or isinstance(values, Mapping)
        points: list[Values] = [values or {}] if isinstance(values, Mapping) or values is None else list(values)
        pairs = [self._pairs(point) for point in points]
        chosen = either(seeds, seed)
        numbers = [] if chosen is None else parse_seeds(chosen)
        if threads is not None and threads < 0:
            raise ArgumentError("threads cannot be negative")
        workers = threads or available_threads()
        core = self._made()
        if want is not None:
            return self._numbers(core, points, pairs, numbers, want, workers, progress)
        results = [Result.from_runs(*point) for point in core.runs(pairs, numbers, workers, progress)]
        self._warn(w for result in results for w in result.warnings)
        return results[0] if alone else results

    def _numbers(
        self,
        core: _core.Prepared,
        points: list[Values],
        pairs: list[list[tuple[str, str]]],
        seeds: list[int],
        want: str | Iterable[str],
        threads: int,
        progress: Progress | None,
    ) -> PreparedRuns:
        selectors = self._selectors((want,) if isinstance(want, str) else tuple(want))
        wanted = [(s.table, s.name, metric) for s in selectors for metric in selection.parts(s)]
        answer = core.numbers(pairs, seeds, wanted, threads, progress)
        if len(answer) == 2:
            point, number = answer
            known = selection.row_names(json.loads(core.resolve(pairs[point]).json()))
            for s in selectors:
                selection.names(s, known)
            raise UnknownNameError(f"no row for {'.'.join(wanted[number])}")
        numbers, counts, fingerprints, events, warnings = answer
        self._warn(ScenarioWarning(text, code) for code, text in warnings)
        columns = _columns(selectors, numbers, counts)
        return PreparedRuns(points, seeds or None, selectors, columns, fingerprints, events)

    def _selectors(self, want: tuple[str, ...]) -> tuple[Selector, ...]:
        """Reads the wanted metrics."""
        if want not in self._wanted:
            if not want:
                raise ArgumentError("nothing is wanted: write for instance want=['network.goodput'], or leave want out for whole results")
            selectors = tuple(selection.selector(text) for text in want)
            for s in selectors:
                known = [m.name for m in metrics_in(s.table)]
                if s.metric not in known:
                    raise suggest(s.metric, known, f"metric of {s.table}")
            self._wanted[want] = selectors
        return self._wanted[want]

    def _pairs(self, point: Values) -> list[tuple[str, str]]:
        """Returns the values of a point for the core."""
        if not isinstance(point, Mapping):
            raise ArgumentError(f"a point is a dict of values by path, not {short(repr(point))}")
        if self.vary:
            for path in point:
                if path not in self.vary:
                    raise suggest(path, list(self.vary), "path in `vary`")
        return checked_pairs(point)

    def _warn(self, found: Iterable[ScenarioWarning]) -> None:
        fresh = [w for w in found if str(w) not in self._warned]
        if fresh:
            self._warned.update(str(w) for w in fresh)
            warn(fresh)

    def __repr__(self) -> str:
        return f"Prepared({', '.join(self.vary) or 'any path'})"


def _columns(selectors: Sequence[Selector], numbers: memoryview[float], counts: Sequence[int]) -> list[list[float]]:
    """Returns the value of each selector in each run; `counts` says how many numbers each metric has in each run."""
    widths = [len(selection.parts(s)) for s in selectors]
    if all(n == 1 for n in counts) and sum(widths) == len(selectors) and all(s.aggregate != "jain" for s in selectors):
        flat = [x if math.isfinite(x) else math.nan for x in numbers]
        return [flat[i :: len(selectors)] for i in range(len(selectors))]
    columns: list[list[float]] = [[] for _ in selectors]
    at, number = 0, 0
    while number < len(counts):
        for s, width, column in zip(selectors, widths, columns, strict=True):
            parts = []
            for _ in range(width):
                parts.append(numbers[at : at + counts[number]].tolist())
                at, number = at + counts[number], number + 1
            column.append(selection.aggregate(s.aggregate, parts[0], parts[1] if width > 1 else None))
    return columns


class PreparedRuns:
    """Wanted metrics of the runs of one or several points."""

    def __init__(
        self,
        points: Sequence[Values],
        seeds: Sequence[int] | None,
        selectors: Sequence[Selector],
        columns: Sequence[Sequence[float]],
        fingerprints: Sequence[int],
        events: Sequence[int],
    ) -> None:
        self.points = tuple(dict(point) for point in points)
        """Values of each point."""
        self.seeds = None if seeds is None else tuple(seeds)
        """Seeds that every point ran with; None if each ran with its own."""
        self.want = tuple(s.text for s in selectors)
        """The wanted metrics."""
        self.events = tuple(events)
        """Number of events of each run: all seeds of the first point, then of the next."""
        self._selectors = dict(zip(self.want, selectors, strict=True))
        self._columns = dict(zip(self.want, columns, strict=True))
        self._fingerprints = fingerprints

    @property
    def fingerprints(self) -> list[str]:
        """Hash of the trajectory of each run, in the order of `events`."""
        return [f"{number:016x}" for number in self._fingerprints]

    def values(self, want: str | None = None, *, point: int = 0) -> list[float]:
        """Returns a metric (default: the first) of a point in each run, without a number NaN."""
        if not -len(self.points) <= point < len(self.points):
            raise ArgumentError(f"there is no point {point}: there are {len(self.points)}, counted from 0")
        column, runs = self._columns[self._name(want)], self._runs
        first = point % len(self.points) * runs
        return list(column[first : first + runs])

    def value(self, want: str | None = None, *, point: int = 0) -> Interval:
        """Returns the mean of a metric (default: the first) of a point over its runs, with its 95 % interval."""
        s = self._selectors[self._name(want)]
        return interval(self.values(s.text, point=point), within=selection.within_of(s), unit=selection.unit_of(s))

    def array(self, want: str | None = None) -> np.ndarray:
        """Returns a metric (default: the first) as a NumPy array: a row for each point, a column for each seed."""
        need("tables")
        import numpy as np

        return np.array(self._columns[self._name(want)], dtype=float).reshape(len(self.points), self._runs)

    def frame(self) -> pl.DataFrame:
        """Returns a polars frame with a row for each run: its point, the values as text, its seed, the wanted metrics, its fingerprint."""
        need("tables")
        import polars as pl

        runs = self._runs
        paths = list(dict.fromkeys(path for point in self.points for path in point))
        columns: dict[str, Any] = {"point": [i for i in range(len(self.points)) for _ in range(runs)]}
        for path in paths:
            own = [None if path not in point else pair[1] for point in self.points for pair in checked_pairs({path: point.get(path, "")})]
            columns[path] = pl.Series([text for text in own for _ in range(runs)], dtype=pl.String)
        if self.seeds is not None:
            columns["seed"] = pl.Series(list(self.seeds) * len(self.points), dtype=pl.UInt64)
        metrics = {name: pl.Series(list(column), dtype=pl.Float64) for name, column in self._columns.items()}
        return pl.DataFrame({**columns, **metrics, "fingerprint": self.fingerprints})

    @property
    def _runs(self) -> int:
        return 1 if self.seeds is None else len(self.seeds)

    def _name(self, want: str | None) -> str:
        if want is None:
            return self.want[0]
        if want not in self._columns:
            raise suggest(want, list(self.want), "wanted metric")
        return want

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        def counted(n: int, what: str) -> str:
            return f"{n} {what}{'s' * (n != 1)}"

        return f"PreparedRuns({counted(len(self.points), 'point')}, {counted(self._runs, 'seed')}, {', '.join(self.want)})"
