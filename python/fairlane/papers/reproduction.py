"""From a paper's definition to its results: run, compare, judge, write."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base import sha256sums
from ..base.files import reason
from ..base.outputs import room_for
from ..base.seeds import parse_seeds
from ..claims import BadCheck, Factors, Row, tables_of
from ..errors import FairlaneError, FolderError, PaperError, UnknownNameError, suggest
from ..study import run_list
from .animations import chosen as moving_combinations
from .animations import covering, insets, watched
from .attainable import csv_of_reach
from .checks import bad_check, check_files, check_study
from .claims import Judged, in_paper_setup, read_claims
from .definition import Built, Combination, Curve, Experiment, Paper, Results, RunTables, check_name, only_ids
from .error_context import study_errors
from .full_reruns import recorded_whole
from .joint_sample import Joint, of_record, of_runs, of_settings
from .measurement import check_columns, check_measures, check_tables
from .outcome import ReproductionOutcome, Shift
from .own_setup import Own, recorded_own
from .recorded import Plan, Which
from .records import csv_of, made_of
from .runner import Job, Progress, Runner
from .search_record import recorded_search
from .settings import Settings, check_settings, replications
from .tables import csv_of_rows

if TYPE_CHECKING:
    from rich.console import Console


class Reproduction(ReproductionOutcome):
    """A finished reproduction."""

    def _repr_html_(self) -> str:
        from .html import reproduction_html

        return reproduction_html(self)

    def print(self, console: Console) -> None:
        """Side-by-side tables and verdicts on a terminal."""
        from .terminal import show

        show(self, console)


def _selected(paper: Paper, only: str | Iterable[str] | None) -> list[Experiment]:
    """The experiments named, and those that a claim named rests on."""
    experiments = paper.experiments()
    wanted = only_ids(only, paper.key)
    if wanted is None:
        return experiments
    known = [e.id for e in experiments]
    if not wanted:
        raise FairlaneError(f"no experiment is named: write one or more of {', '.join(known)}")
    claims = {c.id: [e.removeprefix(f"{paper.key}/") for e in c.experiments] for c in read_claims(paper.folder / "claims.toml")}
    chosen: set[str] = set()
    for name in wanted:
        if name not in known and name not in claims:
            unknown = suggest(name, [*known, *claims], f"table, figure or claim of {paper.key}")
            raise UnknownNameError(f"{unknown}\n  = help: `fairlane reproduce {paper.called} --list` lists them")
        chosen.update(claims.get(name, [name]))
    return [e for e in experiments if e.id in chosen]


def _folder(path: Path, selected: Sequence[Experiment], page: str) -> Path:
    """The folder to write, made; an error before anything is run if something in it is in the way, or it is somebody else's."""
    tables = [f"{e.id}.csv" for e in selected]
    room_for(path, (page, "reproduction.json", sha256sums.NAME, *tables), ("figures", "runs"))
    there = {p.name for p in path.iterdir() if not p.name.startswith(".")} if path.is_dir() else set()
    if there and "runs" not in there:
        raise FolderError(f"{path} is not the folder of a reproduction, and not empty: choose another folder")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise FolderError(f"cannot write {path}: {reason(e)}") from None
    return path


def _measured(
    paper: Paper,
    runner: Runner,
    combinations: Sequence[Combination],
    seeds: Sequence[int],
    progress: Progress | None,
    span: tuple[float, float],
) -> tuple[Results, list[str], int]:
    """Runs the combinations with the seeds; their quantities, the simulator's warnings, and the packet hops."""
    warnings: dict[str, int] = {}
    hops = 0

    def use(job: Job, run: RunTables) -> tuple[Mapping[str, float], dict[str, Curve]]:
        nonlocal hops
        hops += run.packet_hops
        new = [w for w in run.warnings if not any(words in w for words in paper.meant)]
        for w in dict.fromkeys(re.sub(r"`([\w-]+)\.\d+`", r"`\1.*`", w) for w in new):  # members of a group are reported together
            warnings[w] = warnings.get(w, 0) + 1
        values = paper.measure(run, job.combination)
        check_measures(paper, job.combination, job.seed, values, first.setdefault(job.combination.factors, values))
        return values, paper.curves(run, job.combination)

    first: dict[Factors, Mapping[str, float]] = {}
    measured = runner.run([Job(c, s) for c in combinations for s in seeds], progress, span, use)
    samples: dict[Any, Mapping[str, list[float]]] = {}
    curves: dict[Any, list[dict[str, Curve]]] = {}
    for i, combination in enumerate(combinations):
        own = measured[i * len(seeds) : (i + 1) * len(seeds)]
        curves[combination.factors] = [c for _, c in own]
        samples[combination.factors] = {q: [m[q] for m, _ in own] for q in own[0][0]}
    return (
        Results(combinations, samples, curves),
        [f"{w} ({n} of {len(measured)} runs)" for w, n in sorted(warnings.items())],
        hops,
    )


def _tables(paper: Paper, built: Mapping[str, Built], results: Results) -> dict[str, list[Row]]:
    """Our tables for the claims, those without rows left out."""
    tables = {name: rows for name, rows in paper.claim_tables(results, built).items() if rows}
    for name in tables:
        check_name(name, "a table")
    return tables


def run_reproduction(
    paper: Paper,
    only: str | Iterable[str] | None = None,
    quick: bool = False,
    out: str | PathLike[str] | None = None,
    progress: Progress | None = None,
    seeds: int | str | Iterable[int] | None = None,
    which: Which | None = None,
    replays: Sequence[str] = (),
    why: bool = False,
    png: bool = True,
) -> Reproduction:
    """See `fairlane.papers.reproduce`. `which`: the settings that are run; `png`: whether figures are written as PNG besides SVG."""
    with study_errors(paper.folder):
        return _reproduced(paper, only, quick, out, progress, seeds, which or Which(), replays, why, png)


def _reproduced(
    paper: Paper,
    only: str | Iterable[str] | None,
    quick: bool,
    out: str | PathLike[str] | None,
    progress: Progress | None,
    seeds: int | str | Iterable[int] | None,
    which: Which,
    replays: Sequence[str],
    why: bool,
    png: bool,
) -> Reproduction:
    from fairlane import _core

    began = time.perf_counter()
    which.check()
    check_files(paper)
    every = paper.quick_combinations() if quick else paper.combinations()
    check_study(paper, paper.experiments(), every)
    check_settings(paper)
    selected = _selected(paper, only)
    partial = only is not None
    chosen = _seeds(paper, quick, seeds)
    path = Path(fspath(out)) if out is not None else Path("results") / paper.key
    combinations = [c for c in every if any(e.needs(c) for e in selected)]
    moving = moving_combinations(paper, combinations, replays)
    missing = _missing(paper, every if quick else None, chosen)
    alternatives = [] if quick or partial else paper.alternatives()
    few = paper.alternative_seeds
    open_ = bool(paper.opens()) and not partial and not missing
    plan = Plan(paper, which) if open_ else None
    many = len(paper.setting_seeds) * plan.runs if plan else 0
    work = [len(combinations) * len(chosen), *(len(combinations) * len(few) for _ in alternatives), len(combinations) * many]
    ends = [sum(work[: i + 1]) / max(1, sum(work)) for i in range(len(work))]
    runner = Runner(paper, path / "runs")
    runner.look([Job(c, s) for c in combinations for s in chosen[:1]], progress)
    known = read_claims(paper.folder / "claims.toml")
    others_of = Settings(paper, runner, known) if plan else None
    if others_of:
        others_of.look(progress)
    folder = _folder(path, selected, _page_name(selected, partial))
    with runner:
        results, warnings, hops = _measured(paper, runner, combinations, chosen, progress, (0.0, ends[0]))
        spans = pairwise(ends[:-1])
        tried = [_measured(paper, runner, a.combinations(), few, progress, span) for a, span in zip(alternatives, spans, strict=True)]
        runner.forget()
        seen = plan.run(others_of, progress, (ends[-2], 1.0)) if plan and others_of else []
    hops += others_of.packet_hops if others_of else 0
    notes, joint = [*runner.notes, *(plan.notes if plan else ())], None
    if plan:
        from .emulator import recorded_emulated

        joint = Joint(paper.opens(), known, seen, paper.declared_setting, plan.asked, plan.earlier, plan.again, paper=paper)
        try:
            joint.searched = recorded_search(paper)
            joint.whole = recorded_whole(paper)
            joint.emulated = recorded_emulated(paper)
        except PaperError as e:  # made before something changed: the sample's settings are there all the same
            notes.append(str(e))
    else:
        joint = _on_record(paper, notes)
    built = {e.id: e.build(results) for e in selected}
    tables = _tables(paper, built, results)
    check_tables(paper, built, tables, results)
    claims = _judged(paper, selected, partial, quick, tables, joint)
    columns = paper.sensitivity_columns()
    shifts = []
    before = {j.claim.id: j.outcome for j in claims}
    for a, (other, _, more) in zip(alternatives, tried, strict=True):
        hops += more
        values = [other.mean(c.quantity, **c.factors) for c in columns]
        check_columns(paper, a.name, values)
        after = {j.claim.id: j.claim.check.outcome(there) for there in [tables_of(_tables(paper, {}, other))] for j in claims}
        shifts.append(Shift(a, values, other, *_changed(before, after)))
        if a.name == paper.reference:
            before = {**before, **{i: x for i, x in after.items() if x != "no-data"}}
    others = {s.alternative.name: s.results for s in shifts}
    if {c.factors for c in results.combinations} >= {c.factors for c in every}:
        causes = paper.causes(results, others)
        for j in claims:
            j.cause = causes.get(j.claim.id, "").strip()
    base = [results.mean(c.quantity, **c.factors) for c in columns] if shifts else []
    check_columns(paper, "the study's own choices", base) if base else None
    r = Reproduction(
        paper, folder, folder / _page_name(selected, partial), quick, partial, chosen,
        [(e, built[e.id]) for e in selected], claims, results, shifts, base, warnings, [] if partial else paper.findings(results, others),
        runner.fresh + runner.reused, runner.reused, time.perf_counter() - began, runner.cpu_s, hops, _core.version(),
    )  # fmt: skip
    r.tables, r.missing, r.notes, r.joint, r.png = tables, missing, notes, joint, png
    r.moving = insets(paper, moving, chosen[0])
    if why:
        seen_closer = covering(combinations)
        r.of_all = len(seen_closer) == len(combinations)
        r.watched = watched(paper, seen_closer, chosen[0], progress)
    if progress is not None:
        progress(1.0, "writing the page")
    _write(r, runner.kept)
    return r


def _page_name(selected: Sequence[Experiment], partial: bool) -> str:
    if not partial:
        return "index.html"
    first, *others = (e.id.replace("/", "-") for e in selected)
    name = "-".join((first, *others))
    return f"{name if len(name) <= 150 else f'{first}-and-{len(others)}-more'}.html"


def _seeds(paper: Paper, quick: bool, seeds: int | str | Iterable[int] | None) -> list[int]:
    if seeds is None:
        return list(paper.quick_seeds if quick else paper.seeds)
    return parse_seeds(seeds)


def _missing(paper: Paper, quick: Sequence[Combination] | None, seeds: Sequence[int]) -> str:
    """Which part of the runs of a study is made; empty if nothing is missing. `quick`: the scenarios of a quick look."""
    parts = []
    if len(seeds) < len(paper.seeds):
        parts.append(f"{len(seeds)} of {len(paper.seeds)} replications")
    if quick is not None:
        here, all_of = {c.factors for c in quick}, {c.factors for c in paper.combinations()}
        if not here >= all_of:
            parts.append(f"{len(here & all_of)} of {len(all_of)} scenarios")
    return " of ".join(parts)


def _judged(
    paper: Paper, selected: Sequence[Experiment], partial: bool, quick: bool, tables: Mapping[str, list[Row]], joint: Joint | None
) -> list[Judged]:
    """Judges the claims of these tables and figures. What a quick look cannot evaluate has its recorded result in the paper's setup."""
    shown = {f"{paper.key}/{e.id}" for e in selected}
    claims = [c for c in read_claims(paper.folder / "claims.toml") if not partial or shown & set(c.experiments)]
    means, single = tables_of(tables), replications(tables)
    own = _recorded_own(paper) if joint and quick and not partial else {}
    judged = []
    for c in claims:
        try:
            j = in_paper_setup(c, means, single)
            if j.here is None and c.id in own:
                j = replace(own[c.id].judged(c), recorded=True)
            judged.append(of_settings(j, joint) if joint else of_runs(j, bool(paper.opens())))
        except BadCheck as e:
            raise bad_check(paper, c.id, str(e)) from None
    return judged


def _recorded_own(paper: Paper) -> Mapping[str, Own]:
    try:
        return recorded_own(paper)
    except PaperError:
        return {}


def _on_record(paper: Paper, notes: list[str]) -> Joint | None:
    """The settings that the study records, none of which is run again; None without a record of this study."""
    try:
        return of_record(paper) if paper.opens() else None
    except PaperError as e:
        notes.append(str(e))
        return None


def _changed(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[list[tuple[str, str, str]], list[str]]:
    """The claims that come out otherwise with an alternative, and those that its combinations say nothing about."""
    changed = [(i, before[i], x) for i, x in after.items() if x not in (before[i], "no-data")]
    return changed, [i for i, x in after.items() if x == "no-data"]


def _write(r: Reproduction, runs: Sequence[str]) -> None:
    """The list of runs, tables, figures, page, and last the JSON document; each file appears whole or not at all."""
    from ..look import theme
    from . import page

    with sha256sums.listed(r.folder) as put:
        put(f"runs/{run_list.NAME}", run_list.document(runs))
        for experiment, b in r.experiments:
            if b.rows:
                put(f"{experiment.id}.csv", csv_of_rows(b.rows))
            for p in b.pictures:
                put(f"figures/{p.name}.svg", p.svg.encode())
                if r.png:
                    put(f"figures/{p.name}.png", theme.png(p.figure))
                else:  # that of an earlier run would show other values than the SVG
                    (r.folder / f"figures/{p.name}.png").unlink(missing_ok=True)
        own = {e.id for e in r.paper.experiments()}
        for name, rows in r.tables.items():
            if name not in own and not r.partial:
                put(f"{name}.csv", csv_of_rows(rows))
        put(r.page.name, page.render(r).encode())
        if r.joint and not r.missing and not r.partial:
            put("settings.csv", csv_of(r.joint.seen, r.paper))
            put("attainable.csv", csv_of_reach(r.reach, made_of(r.paper)))
        text = json.dumps(r.to_json(), indent=1, ensure_ascii=False, allow_nan=False)
        put("reproduction.json" if not r.partial else r.page.with_suffix(".json").name, (text + "\n").encode())
