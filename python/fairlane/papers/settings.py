"""The settings of a paper: run, compared with the published values and against each claim."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..claims import BadCheck, Check, Row, Tables, tables_of
from ..errors import FairlaneError, PaperError
from ..multiverse import Open, Setting, base_of, check_opens, check_setting, design, key_of, near, same_everywhere, setting_text, settled
from .claims import Claim
from .definition import Built, Combination, Curve, Experiment, Paper, Results, RunTables
from .distance import Distance, distance
from .runner import Job, Progress, Runner
from .score import published_results

BATCH = 8
"""Settings whose runs are made together."""
LOOKS = (256, 512, 1024, 2048, 4096)
"""Sizes of the sample at which sampling stops if the grade of every share is settled."""
REFINED = 4
"""Settings of the sample per setting of refinement."""
AROUND = 4
"""Number of settings nearest to the published values around which refinement continues."""
WIDTHS = (0.5, 0.25, 0.1)
"""How far from them, as a share of each span, in one round after another, over and over."""
FEW = 4
"""How many things may be otherwise than there. Runs that none of these touches are those of the setting nearby, and not made again."""

SAMPLED = ("base", "sample")
"""Kinds of settings that stand for all plausible ones."""

Kind = Literal["base", "declared", "sample", "near"]
Measured = tuple[Mapping[str, float], dict[str, Curve]]


@dataclass(frozen=True)
class Seen:
    """The result of one setting."""

    values: Setting
    kind: Kind
    """The base, the declared setting, a setting of the sample, or one near the best-fitting settings."""
    outcomes: Mapping[str, float | None]
    """Outcome of each claim: 1 or 0, or the share of replications in which it holds; None if unknown."""
    margins: Mapping[str, float | None]
    """By how much, from -1 to 1."""
    distance: Distance
    ours: tuple[float | None, ...] = ()
    """Our values, in the order of `published_results`."""


def check_settings(paper: Paper) -> None:
    """Raises what is wrong with what a paper declares as open, before anything is run."""
    file = paper.folder / "study.py"
    try:
        opens = paper.opens()
        check_opens(opens)
        if opens:
            check_setting(opens, paper.declared_setting, "the declared setting")
        elif paper.declared:
            raise PaperError("a setting is declared, and opens() names nothing that is open")
    except FairlaneError as e:
        raise PaperError(f"{file}: {e}") from None
    if not opens:
        return
    wanted = {c.factors for c in paper.combinations()}
    for name, setting in (("the base", base_of(opens)), ("the declared setting", paper.declared_setting)):
        strange = next((c.factors for c in paper.setting(setting) if c.factors not in wanted), None)
        if strange is not None:
            raise PaperError(f"{file}: setting() makes for {name} a combination that combinations() does not have: {_factors(strange)}")


def corners(opens: Sequence[Open], around: Setting) -> Iterator[Setting]:
    """A setting, and with each parameter alone at either end of its values, or at each of its levels."""
    yield around
    for o in opens:
        n = o.over.count or 2
        for u in (0.0, 1.0) if n > 6 or o.over.count is None else ((i + 0.5) / n for i in range(n)):
            yield {**around, o.name: o.over.at(u)}


class Settings:
    """Runs settings of a paper with its runner, and says what each claim does there."""

    def __init__(
        self,
        paper: Paper,
        runner: Runner,
        claims: Sequence[Claim],
        combinations: Callable[[Setting], Sequence[Combination]] | None = None,
        seeds: Sequence[int] = (),
        incomplete: bool = False,
    ) -> None:
        """`combinations`, `seeds`: the runs of a setting, if not `Paper.setting` with `Paper.setting_seeds`.

        `incomplete`: tables and figures are made of the runs at hand, where that can be done; otherwise of all that they need, or not.
        """
        self.incomplete = incomplete
        self.paper, self.runner, self.claims = paper, runner, claims
        self.combinations, self.seeds = combinations or paper.setting, seeds or paper.setting_seeds
        self.opens = paper.opens()
        self.experiments = paper.experiments()
        self.packet_hops = 0

    def jobs(self, setting: Setting) -> list[Job]:
        """The runs of a setting."""
        place = f" in the setting {setting_text(setting)}"
        return [Job(c, s, place) for c in self.combinations(setting) for s in self.seeds]

    def look(self, progress: Progress | None = None) -> None:
        """Raises what is wrong with the scenarios at the ends of what is open; nothing is run."""
        few = self.seeds[:1]
        jobs = [
            Job(j.combination, j.seed, j.place) for w in corners(self.opens, base_of(self.opens)) for j in self.jobs(w) if j.seed in few
        ]
        self.runner.look(jobs, progress)
        self.runner.forget()

    def see(self, settings: Sequence[Setting], kind: Kind, progress: Progress | None, span: tuple[float, float]) -> list[Seen]:
        """Runs these settings, a batch at a time."""
        seen: list[Seen] = []
        for i in range(0, len(settings), BATCH):
            batch = settings[i : i + BATCH]
            ends = tuple(span[0] + (span[1] - span[0]) * k / len(settings) for k in (i, i + len(batch)))
            seen += self._batch(batch, kind, _naming(progress, f"settings {i + 1} to {i + len(batch)}"), (ends[0], ends[1]))
        return seen

    def these(self, settings: Sequence[tuple[Kind, Setting]], progress: Progress | None, span: tuple[float, float]) -> list[Seen]:
        """Runs settings of several kinds."""
        seen = self.see([w for _, w in settings], "sample", progress, span)
        return [replace(s, kind=kind) for s, (kind, _) in zip(seen, settings, strict=True)]

    def _batch(self, settings: Sequence[Setting], kind: Kind, progress: Progress | None, span: tuple[float, float]) -> list[Seen]:
        def use(job: Job, run: RunTables) -> Measured:
            self.packet_hops += run.packet_hops
            with _within(f" in the combination {_factors(job.combination.factors)}{job.place}"):
                return self.paper.measure(run, job.combination), self.paper.curves(run, job.combination)

        every = [self.jobs(w) for w in settings]
        measured = iter(self.runner.run([j for jobs in every for j in jobs], progress, span, use))
        self.runner.forget()
        return [self._seen(w, kind, jobs, [next(measured) for _ in jobs]) for w, jobs in zip(settings, every, strict=True)]

    def _seen(self, setting: Setting, kind: Kind, jobs: Sequence[Job], measured: Sequence[Measured]) -> Seen:
        combinations = list({j.combination.factors: j.combination for j in jobs}.values())
        samples: dict[Any, dict[str, list[float]]] = {c.factors: {} for c in combinations}
        curves: dict[Any, list[dict[str, Curve]]] = {c.factors: [] for c in combinations}
        for job, (quantities, drawn) in zip(jobs, measured, strict=True):
            for q, x in quantities.items():
                samples[job.combination.factors].setdefault(q, []).append(x)
            curves[job.combination.factors].append(drawn)
        with _within(f" in the setting {setting_text(setting)}"):
            results = Results(combinations, samples, curves)
            built = self._built(results)
            rows = {name: rows for name, rows in self.paper.claim_tables(results, built).items() if rows}
            tables = replications(rows) if self.paper.single_runs else [tables_of(rows)]
            outcomes = {c.id: _mean([_outcome(c.check, t) for t in tables]) for c in self.claims}
            margins = {c.id: _mean([_margin(c.check, t) for t in tables]) for c in self.claims}
            beside = published_results(self.paper, built)
        return Seen(setting, kind, outcomes, margins, distance(beside), tuple(row.ours for row in beside))

    def _built(self, results: Results) -> dict[str, Built]:
        """The experiments that the combinations of a setting allow."""
        have = {c.factors for c in results.combinations}
        whole = [e for e in self.experiments if _allows(e, self._combinations(), have)]
        built = {e.id: e.build(results) for e in whole}
        for e in self.experiments if self.incomplete else ():
            if e not in whole:
                with suppress(ArithmeticError, LookupError, ValueError):
                    built[e.id] = e.build(results)
        return built

    def _combinations(self) -> Sequence[Combination]:
        if not hasattr(self, "_known"):
            self._known = self.paper.combinations()
        return self._known


@contextmanager
def _within(words: str) -> Iterator[None]:
    """Adds the setting to the message of an error in a study's code."""
    try:
        yield
    except (FairlaneError, OSError):
        raise
    except Exception as e:
        e.args = (f"{e}{words}",)
        raise


def _allows(e: Experiment, combinations: Sequence[Combination], have: set[Any]) -> bool:
    needed = e.least or e.needs
    return all(c.factors in have for c in combinations if needed(c))


def sample(
    settings: Settings, most: int | None, progress: Progress | None, span: tuple[float, float], refined: int | None = None
) -> list[Seen]:
    """The joint sample of a paper, its declared setting, and refinement around the settings nearest to the published values.

    `most`: settings of the sample; None takes as many as settle every share, at most `Paper.most_settings`. `refined`: settings of
    refinement instead of one for `REFINED` of the sample. When it stops depends on what the settings say, never on a clock: the same study
    has the same settings everywhere.
    """
    limit = settings.paper.most_settings if most is None else most
    planned = design(settings.opens, limit)
    looks = [n for n in LOOKS if n < len(planned)] if most is None else []
    total = len(planned) + 1 + _refined(len(planned), refined)
    seen: list[Seen] = []

    def part(n: int) -> float:
        return span[0] + (span[1] - span[0]) * n / max(1, total)

    for end in [*looks, len(planned)]:
        begin = len(seen)
        if not seen:
            seen += settings.see(planned[:1], "base", progress, (part(0), part(1)))
            begin = 1
        seen += settings.see(planned[begin:end], "sample", progress, (part(begin), part(end)))
        if end < len(planned) and all(_settled(seen, c.id) for c in settings.claims):
            break
    n = _refined(len(seen), refined)
    return refine(settings, seen, n, progress, (part(total - n - 1), part(total)))


def _settled(seen: Sequence[Seen], claim: str) -> bool:
    """Returns true if more settings would not change the grade of a claim."""
    outcomes = [s.outcomes[claim] for s in seen]
    return same_everywhere(outcomes, [s.margins[claim] for s in seen]) or settled(outcomes)


def _refined(n: int, asked: int | None) -> int:
    return max(len(WIDTHS) * BATCH, n // REFINED) if asked is None else asked


def refine(settings: Settings, seen: Sequence[Seen], n: int, progress: Progress | None, span: tuple[float, float]) -> list[Seen]:
    """These settings, the declared one, and `n` more, which come nearer to the published values from round to round: an evolution strategy.

    It starts from the settings nearest to the published values and from the declared one, and resumes from any round: more settings
    of refinement begin with those that fewer have. By what is nearer the values that choose say alone; the others test it.
    """
    out, declared = list(seen), settings.paper.declared_setting
    ends = [span[0] + (span[1] - span[0]) * i / (1 + n) for i in range(2 + n)]
    fresh = key_of(declared) not in {key_of(s.values) for s in out}
    if fresh:
        out += settings.see([declared], "declared", progress, (ends[0], ends[1]))
    for i in range(0, n, BATCH):
        done = sum(s.kind == "near" for s in out) // BATCH
        best = [s.values for s in nearest(out, AROUND)]
        if i == 0 and (fresh or not done) and best and key_of(declared) not in {key_of(b) for b in best}:
            best.append(declared)
        k = min(BATCH, n - i)
        tried = near(settings.opens, best, k, WIDTHS[done % len(WIDTHS)], done + 1, FEW, [s.values for s in out])
        out += settings.see(tried, "near", progress, (ends[1 + i], ends[1 + i + k]))
    return out


def nearest(seen: Sequence[Seen], n: int) -> list[Seen]:
    """The settings nearest to the published values, by the values that choose."""
    known = [s for s in seen if s.distance.fit is not None]
    return sorted(known, key=lambda s: s.distance.fit or 0.0)[:n]


def replications(rows: Mapping[str, Sequence[Row]]) -> list[Tables]:
    """The tables of each replication alone; values without replications are the same in all."""
    n = max((len(r.samples) for rs in rows.values() for r in rs), default=0)
    base = tables_of(rows)
    if n < 2:
        return [base]
    return [
        base.with_values({t: [r.samples[i] if len(r.samples) == n else r.value for r in rs] for t, rs in rows.items()}) for i in range(n)
    ]


def _outcome(check: Check, tables: Tables) -> float | None:
    """Returns 1 if a claim holds, else 0; None if the tables lack a value, or its check divides by zero in this setting."""
    try:
        said = check.outcome(tables)
    except BadCheck:
        return None
    return None if said == "no-data" else float(said == "holds")


def _margin(check: Check, tables: Tables) -> float | None:
    """By how much it holds or fails; None as above."""
    try:
        return check.margin(tables)
    except BadCheck:
        return None


def _mean(xs: Sequence[float | None]) -> float | None:
    known = [x for x in xs if x is not None]
    return sum(known) / len(known) if known else None


def _naming(progress: Progress | None, what: str) -> Progress | None:
    if progress is None:
        return None
    tell: Callable[[float, str], object] = lambda fraction, label: progress(fraction, f"{what}: {label}")  # noqa: E731
    return tell


def _factors(factors: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{k}={x}" for k, x in factors)
