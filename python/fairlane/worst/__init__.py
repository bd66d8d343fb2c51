"""Worst paths: the path on which an algorithm does worst, found, shrunk, confirmed and kept as a scenario."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ..base import sha256sums
from ..base.extras import need
from ..base.outputs import room_for
from ..base.seeds import parse_seeds
from ..errors import ArgumentError, FolderError, ScenarioWarning
from ..runs.network import Network
from .model import Finding, Judged, WorstSpec
from .result import WorstResult
from .search import Progress

__all__ = ["Finding", "Judged", "Progress", "WorstPaths", "WorstResult", "WorstSpec"]

BUDGET = 400
"""Paths that a search tries by default."""


class WorstPaths:
    """A search for the paths on which an algorithm does worst; `run` runs it.

    `tcp`: a congestion control, alone on a path, or compared with `reference` on the same path and seeds; `pair`: two flows of it;
    `competitor`: with a competing flow of another control. `queue`: a queue with senders of each kind in `traffic`. `scenario`: a
    `Network`, a dict or a path with the flow `flow`. `least` or `most`: the metric that is to be small or large; "unfairness" is
    1 - Jain's index. `may`: the changes, as docs/guides/worst-paths.md describes. `seeds`: replications of each path; `seed`: that of
    the search.

    >>> WorstPaths(tcp="bbr3", reference="cubic", may="loss,steps=4").spec.name
    'worst-bbr3-cubic'
    """

    def __init__(
        self,
        scenario: Network | Mapping[str, Any] | str | PathLike[str] | None = None,
        *,
        tcp: Any = None,
        reference: Any = None,
        competitor: Any = None,
        pair: bool = False,
        queue: Any = None,
        traffic: str | Sequence[str] = ("tcp", "udp"),
        flow: str | None = None,
        link: str | None = None,
        least: str | None = None,
        most: str | None = None,
        may: str | Sequence[str] | None = None,
        sets: Iterable[tuple[str, str]] = (),
        seeds: int | str | Iterable[int] = 3,
        seed: int = 1,
        paths: int = 3,
        plugins: Iterable[str] = (),
    ) -> None:
        """Raises `ArgumentError`, `UnknownNameError` or `ScenarioError` with what is wrong."""
        from .planning import FRESH, Asked, plan, words

        asked = Asked(
            scenario, tcp, reference, competitor, pair, queue, traffic, flow, link, least, most, may, tuple((k, str(v)) for k, v in sets)
        )
        numbers = tuple(parse_seeds(seeds))
        if paths < 1:
            raise ArgumentError(f"paths = {paths}: a search keeps one path or more")
        fresh = tuple(range(max(numbers) + 1, max(numbers) + 1 + FRESH))
        said = words(asked, (("seeds", None if numbers == (1, 2, 3) else ",".join(map(str, numbers))), ("search-seed", seed),
                             ("paths", None if paths == 3 else paths)))  # fmt: skip
        files = tuple(plugins)
        said += tuple(w for file in files for w in ("--plugin", file))
        self.spec: WorstSpec = plan(asked, seeds=numbers, fresh=fresh, seed=seed, paths=paths, plugins=files, command=said)

    def run(
        self,
        out: str | PathLike[str] | None = None,
        *,
        budget: int | str = BUDGET,
        threads: int | None = None,
        processes: int | None = None,
        cluster: Any = None,
        mpi: bool = False,
        executor: Any = None,
        progress: Progress | None = None,
    ) -> WorstResult:
        """Searches, and shrinks, confirms and explains what was found.

        `budget`: how many paths are tried, or a time such as "60s". The same number finds the same path on any machine; a time ends the
        search after a whole batch, and the result has the number. `out`: the folder for all files; with one, a search that was interrupted
        resumes where it stopped. The result does not depend on where the runs are executed: `threads`, `processes`, a Dask `cluster`, MPI
        or any `concurrent.futures.Executor`. `progress(tried, effect, stage)` is called after each batch.
        """
        need("tune")
        from ..study.executors import Threads, choose
        from .confirm import findings
        from .files import FILES, write
        from .judge import Judge
        from .search import Search
        from .store import NAME, Kept

        spec = replace(self.spec, **_budget(budget))
        folder = None if out is None else Path(fspath(out))
        if folder is not None:
            room_for(folder, (*FILES, NAME, sha256sums.NAME, *(f"{i + 1}.{end}" for i in range(spec.paths) for end in ("toml", "svg"))))
            if folder.is_dir() and not (folder / NAME).exists() and (other := min((p.name for p in folder.iterdir()), default=None)):
                raise FolderError(f"{folder} is not the folder of a search and has {other}: choose another folder with --out")
        pool = choose(threads=threads, processes=processes, cluster=cluster, mpi=mpi or False, executor=executor)
        local = isinstance(pool, Threads)
        with warnings.catch_warnings(), nullcontext() if local else pool:
            # Paths of a search are unusual on purpose; `fairlane run` repeats the warnings of those that are kept.
            warnings.simplefilter("ignore", ScenarioWarning)
            judge = Judge(spec, Kept(folder, _head(spec)), threads, None if local else pool)
            judge.check_determinism()
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
            search = Search(spec, judge)
            search.run(progress)

            def tick(stage: str) -> None:
                if progress is not None:
                    progress(len(search.tried), search.ranked[0].effect if search.ranked else None, stage)

            found, failed = findings(spec, judge, search, tick)
            result = WorstResult(spec, search, found, failed)
            if folder is not None:
                write(result, folder)
        return result


def _budget(budget: int | str) -> dict[str, Any]:
    """Returns the budget of a plan: a number of paths, or a time."""
    from ..base.literals import kind, quantity, si

    if isinstance(budget, bool) or (q := quantity(budget)) is None or q[0] <= 0:
        raise ArgumentError(f"cannot read the budget {budget!r}: write a number of paths (400) or a time (60s)")
    number, unit = q
    if unit and kind(unit) == "s":
        return {"evaluations": None, "seconds": si(budget)}
    if unit or number != int(number):
        raise ArgumentError(f"cannot read the budget {budget!r}: write a number of paths (400) or a time (60s)")
    return {"evaluations": int(number), "seconds": None}


def _head(spec: WorstSpec) -> dict[str, Any]:
    """Returns what kept evaluations are of."""
    from ..study.one_run import engine

    return {
        "schema": "fairlane.worst-evaluations/1", "engine": engine(), "scenario": dict(spec.tree), "other": dict(spec.other),
        "objective": [spec.objective.metric, spec.objective.most, [s.text for s in spec.objective.selectors]],
        "changes": [repr(c) for c in spec.changes], "seeds": list(spec.seeds), "seed": spec.seed,
    }  # fmt: skip
