"""The parts of a study: factors with levels, combinations (one level of each factor), runs (a combination and a seed)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, NamedTuple

from ..runs.selection import Selector as Selector

Label = str | int | float | bool
"""How a level of a factor is called in tables: text, or a number that plots can use as a coordinate."""


@dataclass(frozen=True)
class Level:
    """One setting of a factor: what is changed in the base scenario, and how that is called in tables."""

    label: Label
    sets: tuple[tuple[str, Any], ...]
    """Paths and values, as `--set` has them, laid over the base in this order."""
    place: tuple[str, ...] = ()
    """Keys that lead to the level in the study file, for messages about it."""
    text: str = ""
    """The level as it was written, for people: 10Mbit/s where the label is 1e7."""
    keys: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    """For each of `sets` the keys in the study file that lead to its path, and those that lead to its value."""


@dataclass(frozen=True)
class Factor:
    """One or several values that vary together."""

    name: str
    """The column of tables."""
    levels: tuple[Level, ...]
    unit: str = ""
    """Unit of the labels if they are numbers, such as bit/s; for axes."""
    paths: tuple[str, ...] = ()
    """Paths of the values that vary."""
    place: tuple[str, ...] = ()
    """Keys that lead to the factor in the study file."""


@dataclass(frozen=True)
class Precision:
    """Sequential stopping: replications are added to a combination until every metric's interval is narrow enough."""

    relative: float
    """Half the width of the interval over the mean, at most; 0.02 for "2%"."""
    metrics: tuple[str, ...] = ()
    """Labels of the metrics that count; () for all."""
    minimum: int = 5
    """Replications that every combination gets."""
    maximum: int = 1000
    """Most replications of a combination; a warning names combinations that reach it."""


@dataclass(frozen=True)
class PlotSpec:
    """A picture to draw when the study is done."""

    kind: str
    """line, bar, scatter, heatmap, box or ecdf."""
    y: str
    x: str = ""
    by: str = ""
    panel: str = ""
    name: str = ""
    """File name without ending."""
    title: str = ""
    log: tuple[str, ...] = ()
    """Axes with a logarithmic scale: x, y."""


@dataclass(frozen=True)
class VariedParameter:
    """A varied parameter: a range or a choice, of which each setting takes one value."""

    name: str
    """The column of tables."""
    base: Label
    """The value in the first setting, as written."""
    low: Label = ""
    """Ends of the range, as written; a choice has none."""
    high: Label = ""
    scale: str = "linear"
    step: Label | None = None
    choices: tuple[str, ...] = ()
    """The levels of a choice, as written; a range has none."""
    unit: str = ""
    """Unit of the numbers in tables, such as bit/s."""
    why: str = ""
    paths: tuple[str, ...] = ()
    """Paths of the values that vary."""


@dataclass(frozen=True)
class Settings:
    """Settings: one value for each varied parameter. A setting is a level of the factor `setting`."""

    n: int
    """How many are asked for; there may be fewer different ones."""
    seed: int
    """Seed of the sample."""
    opens: tuple[VariedParameter, ...]
    values: tuple[tuple[Label, ...], ...]
    """The values of each setting, as written, in the order of `opens`."""


@dataclass(frozen=True)
class Claim:
    """A sentence, and the check over the metrics that says whether it is true."""

    id: str
    statement: str
    check: str
    place: tuple[str, ...] = ()
    """Keys that lead to it in the study file."""


@dataclass(frozen=True)
class StudySpec:
    """A study, read and checked."""

    name: str
    base: str
    """Text of the base scenario."""
    base_name: str
    """Its file name, for messages and for the files it names."""
    base_format: str
    """toml or json."""
    factors: tuple[Factor, ...]
    """All combinations of their levels are run."""
    seeds: tuple[int, ...]
    """Every combination sees the same ones: common random numbers."""
    metrics: tuple[Selector, ...]
    """Metrics that tables and plots show; everything else is kept as well."""
    sets: tuple[tuple[str, Any], ...] = ()
    """Changes of the base that hold in every combination."""
    plots: tuple[PlotSpec, ...] = ()
    precision: Precision | None = None
    keep: str = "all"
    """all: every metric of every flow and link; selected: only what `metrics` need."""
    plugins: tuple[str, ...] = ()
    """Files with queues or congestion controls that users write; every worker loads them."""
    confidence: float = 0.95
    hop_probe: bool = False
    """True to measure delays from the second node on too, which takes longer."""
    run_limit: float | None = None
    """Seconds on the clock that a run may take; None for no limit. No part of what names a result."""
    description: str = ""
    source: tuple[str, str, str] | None = None
    """Text, name and format of the study file, for messages about it. A study made in Python has the text that says the same."""
    inline: bool = False
    """True if the base scenario is the table `[scenario]` of the study file."""
    set_places: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    """For each of `sets` the keys in the study file that lead to its path and to its value; empty for those of the command line."""
    settings: Settings | None = None
    """Present if parameters vary; then the first factor is `setting`."""
    ends: tuple[Factor, ...] = ()
    """The extreme values of the varied parameters, one factor each: they are checked before settings are sampled."""
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True)
class Combination:
    """One combination of levels, resolved."""

    index: int
    """Position in the order of the study: the last factor varies fastest."""
    labels: Mapping[str, Label]
    """Level of each factor, by the factor's name."""
    parts: tuple[str, ...]
    """The members of the complete scenario as JSON text; combinations share those in which they do not differ."""
    essence: str
    """Hash of what decides the results, the seed aside."""
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Flow names of each group."""
    links: tuple[str, ...] = ()
    """Names of all directions of links."""
    warnings: tuple[str, ...] = ()
    reports: str = "flows"
    """Whose rows its runs have: "flows" or "groups"."""

    @property
    def resolved(self) -> str:
        """The complete scenario as JSON text, as `_core.run` takes it."""
        return f"{{{','.join(self.parts)}}}"


Wanted = tuple[tuple[str, str, tuple[str, ...]], ...]
"""Parts of a run's table: table, metric, and of which flows or links."""


class PlugIn(NamedTuple):
    """A plug-in as the study was planned with it."""

    path: str
    digest: str
    """Digest of everything that it is made of."""
    parts: tuple[tuple[str, str], ...] = ()
    """Modules with the SHA-256 of their files, and what is installed with its version."""
    file: str = ""
    """SHA-256 of its own file."""


@dataclass(frozen=True)
class Task:
    """A run, ready to be sent to a worker anywhere: it needs nothing but an installed fairlane."""

    key: str
    """Content hash of (resolved scenario, seed, engine version): the run's name in the store."""
    resolved: str
    seed: int
    engine: str
    """The engine that the key stands for; a worker with another one refuses."""
    plugins: tuple[PlugIn, ...] = ()
    wanted: Wanted | None = None
    """The metrics to keep; None keeps all."""
    hop_probe: bool = False
    """True to measure delays from the second node on too."""
    limit: float | None = None
    """Seconds on the clock that it may take; None for no limit."""


@dataclass(frozen=True)
class Outcome:
    """A worker's answer to a task: either `data` or `error`."""

    key: str
    seed: int
    data: bytes = b""
    """The run's table as a Parquet file; see `fairlane.study.one_run`. Equal for equal runs, wherever they ran."""
    error: str = ""
    """Why there is no result, in one message."""
    kind: str = ""
    """Class of the error: ScenarioError, RunError, PluginError, Limit, Version, Crash, ..."""
    fingerprint: str = ""
    events: int = 0
    cpu_s: float = 0.0
    worker: str = ""
    """Host, process: for messages."""


PathText = str | PathLike[str]
