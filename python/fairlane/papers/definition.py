"""The definition of a reproduction: combinations to run, quantities to measure, experiments to show, alternatives to try."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.scenario import read_scenario, tree_of
from ..claims import Factors, Row, row_of
from ..errors import PaperError, suggest
from ..look.theme import Panel
from ..multiverse import Open, Value, base_of
from .tables import Compared, Comparison, read_csv

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Tree = dict[str, Any]
"""A scenario, as the tree of its TOML file."""


def copy_tree(tree: Tree) -> Tree:
    """Returns a deep copy of a scenario's tree, in a fifth of the time of `copy.deepcopy`.

    >>> copy_tree({"flows": {"web": {"start": "1s"}}})
    {'flows': {'web': {'start': '1s'}}}
    """
    copied: Tree = json.loads(json.dumps(tree))
    return copied


_FILE = re.compile(r"\w[\w.+-]{0,99}(/\w[\w.+-]{0,99})?")
_TAKEN = ("attainable", "boundaries", "in_paper_setup", "index", "reproduction", "search", "settings")
"""Files of a reproduction that no experiment may have."""
_FOLDERS = ("figures", "runs")


def check_name(name: object, of: str) -> None:
    """Raises if a name cannot be that of a file in the folder of results: such a one could lead out of it."""
    if not isinstance(name, str) or not _FILE.fullmatch(name):
        shown = repr(name) if len(str(name)) <= 120 else f"{str(name)[:100]!r}..."
        raise PaperError(f"{shown} cannot name {of}, since it names files: write letters, digits, - _ . or +, and at most one /")
    if of == "a picture":
        return
    if name in _TAKEN or name.partition("/")[0] in _FOLDERS:
        raise PaperError(f"{name!r} cannot name {of}: the results have another file of this name")


def factors_of(**names: object) -> Factors:
    """Factors in the order given, as text."""
    return tuple((k, str(x)) for k, x in names.items())


@dataclass(frozen=True)
class Combination:
    """One scenario of a study, named by its factors; every seed is one replication."""

    factors: Factors
    tree: Callable[[int], Tree]
    """The scenario of a seed, as the tree of its TOML file."""

    def __getitem__(self, name: str) -> str:
        return dict(self.factors)[name]


Change = Callable[[Tree, Combination], None]
"""Changes the scenario of a combination in place."""


def all_of(*changes: Change) -> Change:
    """Several changes of a scenario, one after the other, as one."""

    def change(tree: Tree, combination: Combination) -> None:
        for one in changes:
            one(tree, combination)

    return change


Curve = tuple[list[float], list[float | None]]
"""Times and values of a series."""


@dataclass(eq=False)
class Series:
    """Time series of the flows, or of the links, of one run; false if none was kept."""

    names: tuple[str, ...] = ()
    """The flows or links, in the order of the rows."""
    times: np.ndarray = field(default_factory=lambda: np.zeros(0))
    columns: dict[str, np.ndarray] = field(default_factory=dict)
    """Values by column: a row for each name, a value for each time, NaN where there is none."""

    def __bool__(self) -> bool:
        return len(self.times) > 0

    def __contains__(self, column: object) -> bool:
        return column in self.columns

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Series)
            and (self.names, [*self.columns]) == (other.names, [*other.columns])
            and np.array_equal(self.times, other.times)
            and all(np.array_equal(x, other.columns[c], equal_nan=True) for c, x in self.columns.items())
        )

    def curve(self, name: str, column: str) -> Curve:
        """Times and values of one column of one flow or link; None where it has no value."""
        values = self.columns[column][self.names.index(name)]
        missing = np.isnan(values)
        return self.times.tolist(), [None if gone else x for x, gone in zip(values.tolist(), missing, strict=True)]


@dataclass
class RunTables:
    """Tables of one run: the columns the paper measures, per flow and per link, and facts about the run."""

    flows: dict[str, list[Any]]
    links: dict[str, list[Any]]
    network: dict[str, list[Any]]
    packet_hops: int = 0
    warnings: list[str] = field(default_factory=list)
    flow_series: Series = field(default_factory=Series)
    """Columns of the flows' time series that the paper keeps."""
    link_series: Series = field(default_factory=Series)
    """Columns of the links' time series that the paper keeps."""
    fingerprint: str = ""
    """Equal for runs in which every packet had the same fate."""

    def link(self, name: str, column: str) -> float:
        """A column of one link."""
        return float(self.links[column][self.links["name"].index(name)])

    def series(self, name: str, column: str) -> Curve:
        """Times and values of one column of the series of a flow, or else of a link."""
        for table in (self.flow_series, self.link_series):
            if name in table.names:
                return table.curve(name, column)
        raise KeyError(f"no series of {name!r} was kept")


@dataclass(frozen=True)
class Alternative:
    """Another value of an unstated parameter: all combinations are run again with it."""

    name: str
    """The changed choice, for instance "TCP window 20"."""
    why: str
    """Why it is plausible, or what it tests."""
    combinations: Callable[[], Sequence[Combination]]


@dataclass
class Picture:
    """A figure: drawn once, shown on the page and written as SVG and PNG."""

    name: str
    title: str
    caption: str
    panels: Sequence[Panel]
    """Drawings side by side (stacked on a narrow screen)."""

    def __post_init__(self) -> None:
        check_name(self.name, "a picture")

    @cached_property
    def figure(self) -> Figure:
        """All panels in one figure."""
        from ..look.theme import figure_of

        return figure_of(self.panels)

    @cached_property
    def drawn(self) -> list[str]:
        """Each panel as SVG text."""
        from ..look.theme import figure_of, svg

        return [svg(figure_of([p])) for p in self.panels]

    @cached_property
    def svg(self) -> str:
        """The figure as SVG text."""
        from ..look.theme import side_by_side

        return self.drawn[0] if len(self.drawn) == 1 else side_by_side(self.drawn)


@dataclass
class Built:
    """The outcome of one experiment."""

    comparison: Comparison = field(default_factory=Comparison)
    rows: list[Row] = field(default_factory=list)
    """Our tidy table, written as <id>.csv."""
    pictures: list[Picture] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    peer_name: str = ""
    group_by: tuple[str, ...] = ()
    """Factors that become sub-headings of the side-by-side table."""
    show_table: bool = True
    more: list[Compared] = field(default_factory=list)
    """A second table of ours, folded away under `more_title`."""
    more_title: str = ""
    inconclusive: str = ""
    """Why this experiment cannot be decided yet, where no run can: it then is so whatever the claims say."""


class Results:
    """Quantities of all combinations: one number per replication."""

    def __init__(
        self,
        combinations: Sequence[Combination],
        samples: Mapping[Factors, Mapping[str, Sequence[float]]],
        curves: Mapping[Factors, Sequence[Mapping[str, Curve]]] | None = None,
    ) -> None:
        self.combinations = [c for c in combinations if c.factors in samples]
        self._samples = samples
        self._curves = curves or {}

    def samples(self, combination: Combination, quantity: str) -> Sequence[float]:
        """The values of a quantity over the replications of a combination."""
        return self._samples[combination.factors][quantity]

    def quantities(self, combination: Combination) -> list[str]:
        """The quantities of a combination."""
        return list(self._samples[combination.factors])

    def curves(self, combination: Combination, name: str) -> list[Curve]:
        """A series that `Paper.curves` made, one of each replication of the combination."""
        return [c[name] for c in self._curves.get(combination.factors, ()) if name in c]

    def mean(self, quantity: str, **factors: object) -> float:
        """The mean of a quantity over the replications of the one combination with these factors."""
        combination = self.combination(**factors)
        values = self.samples(combination, quantity)
        return sum(values) / len(values)

    def combination(self, **factors: object) -> Combination:
        """The one combination with these factors."""
        found = [c for c in self.combinations if all(c[k] == str(x) for k, x in factors.items())]
        if len(found) != 1:
            text = ", ".join(f"{k}={x}" for k, x in factors.items())
            raise LookupError(f"{len(found)} combinations with {text} were run; one is expected")
        return found[0]

    def has(self, **factors: object) -> bool:
        """Returns true if a combination with these factors was run."""
        return any(all(c[k] == str(x) for k, x in factors.items()) for c in self.combinations)

    def rows(self, quantity: str, metric: str, unit: str, wanted: Callable[[Combination], bool] = lambda _: True) -> list[Row]:
        """A tidy table of one quantity, in the order of the combinations."""
        return [row_of(dict(c.factors), metric, self.samples(c, quantity), unit) for c in self.combinations if wanted(c)]


@dataclass(frozen=True)
class Experiment:
    """A table or figure of the paper."""

    id: str
    """Name for ``--only``, for instance "table3"."""
    title: str
    text: str
    """Description for a reader without the paper."""
    build: Callable[[Results], Built]
    needs: Callable[[Combination], bool] = lambda _: True
    """The combinations it is made of."""
    part_of: str = ""
    """The experiment whose table has all of it: where that is shown, this one has no place of its own on the page."""
    least: Callable[[Combination], bool] | None = None
    """The combinations without which it cannot be made in a setting, which may have fewer than it `needs`; None: all of these."""

    def __post_init__(self) -> None:
        check_name(self.id, "an experiment")


class Paper(ABC):
    """The data of a paper (its folder) and, in a subclass in ``study.py`` there, how it is reproduced.

    The folder holds ``paper.toml`` (words: title, citation, question, experiments, contradictions), ``claims.toml``,
    ``parameters.csv``, the published tables, and scenario files. Its name is the key of the study.
    """

    key: str
    called: str
    """How the study was named: its key, or the path of its folder."""
    flow_columns: tuple[str, ...] = ()
    link_columns: tuple[str, ...] = ()
    network_columns: tuple[str, ...] = ()
    hop_probe: bool = True
    """True to measure `router_path_delay_mean`, which makes runs slower."""
    meant: tuple[str, ...] = ()
    """Words of warnings that tell of what the study means to do; they are not shown."""
    flow_series: tuple[str, ...] = ()
    """Columns of the flows' time series that are kept, of combinations whose scenario sets `sample` (see `series_of`)."""
    link_series: tuple[str, ...] = ()
    links: tuple[str, ...] | None = None
    """Names of the links whose rows are kept; `None` keeps all."""
    tables: tuple[str, ...] = ()
    """Tables that claims read and that are no experiments: `claim_tables` makes them."""
    minutes: float = 1.0
    """About how long all of it takes on two cores, for lists and for the time left of `reproduce all`."""
    seeds: tuple[int, ...] = tuple(range(1, 11))
    quick_seeds: tuple[int, ...] = (1, 2)
    alternative_seeds: tuple[int, ...] = (1, 2)
    setting_seeds: tuple[int, ...] = (1,)
    """The replications of each setting: few, because there are many settings."""
    most_settings: int = 512
    """Settings of the joint sample, at most; those around the settings nearest to the published values come on top. Fewer are taken once
    the grade of every claim is settled."""
    single_runs: bool = False
    """True if the paper made each run once: in a setting a claim is then judged in each replication alone, not on their means."""
    declared: Mapping[str, Value] = {}
    """The setting of the study's own tables, where it differs from the base: `combinations` are those of `setting(declared)`."""
    reference: str = ""
    """The alternative that changes nothing but the number of combinations, where there is one: those after it are compared with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.key = self.called = folder.resolve().name

    @cached_property
    def words(self) -> Tree:
        """The texts of ``paper.toml``; optional ones are empty if absent."""
        blank = dict.fromkeys(("citation", "question", "setup", "topology", "peer", "peer_note"), "")
        return {**blank, "factors": {}, "unstated": {}, "experiments": {}, "contradictions": [], **self.scenario("paper.toml")}

    @cached_property
    def parameters(self) -> list[dict[str, str]]:
        """The parameter table: parameter, value, status, basis."""
        path = self.folder / "parameters.csv"
        return read_csv(path) if path.exists() else []

    def published(self, table: str) -> list[dict[str, str]]:
        """A published table; empty if the paper does not publish it."""
        path = self.folder / f"{table}.csv"
        return read_csv(path) if path.exists() else []

    def scenario(self, name: str) -> Tree:
        """A fresh tree of a scenario file of the folder, which is read once."""
        if name not in self._scenarios:
            self._scenarios[name] = tree_of(*read_scenario(self.folder / name))
        return copy_tree(self._scenarios[name])

    @cached_property
    def _scenarios(self) -> dict[str, Tree]:
        return {}

    def title_of(self, experiment: str) -> str:
        """The title of an experiment."""
        return str(self.words["experiments"][experiment]["title"])

    def experiment(self, id: str, build: Callable[[Results], Built], needs: Callable[[Combination], bool] = lambda _: True) -> Experiment:
        """An experiment whose words are in ``paper.toml``."""
        known = self.words["experiments"]
        if id not in known:
            raise LookupError(f"[experiments.{id}] is not in paper.toml: {suggest(id, [*known], 'experiment')}")
        w = known[id]
        return Experiment(id, w["title"], w["text"], build, needs)

    # Methods that a paper defines:

    @abstractmethod
    def combinations(self) -> list[Combination]:
        """All scenarios of the study."""

    def quick_combinations(self) -> list[Combination]:
        """The scenarios of a quick look; a paper with very many overrides this."""
        return self.combinations()

    @abstractmethod
    def measure(self, run: RunTables, combination: Combination) -> dict[str, float]:
        """The quantities of one run."""

    def series_of(self, combination: Combination) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Returns the kept series columns of flows and of links, for papers that read few of most combinations."""
        return self.flow_series, self.link_series

    def curves(self, run: RunTables, combination: Combination) -> dict[str, Curve]:
        """The series of one run that figures draw, by name."""
        return {}

    @abstractmethod
    def experiments(self) -> list[Experiment]:
        """All tables and figures, in the order of the page."""

    def opens(self) -> list[Open]:
        """Returns the unstated parameters, each with its plausible values: settings are sampled from all of them together."""
        return []

    def setting(self, values: Mapping[str, Value]) -> Sequence[Combination]:
        """Returns all combinations of the study with these values of the unstated parameters; factors are those of `combinations`.

        A study whose `opens` lists parameters defines it. No default can: only the study knows which part of a scenario a value changes.
        """
        raise NotImplementedError(f"{type(self).__name__}.opens() lists unstated parameters: define setting() for their combinations")

    @property
    def declared_setting(self) -> dict[str, Value]:
        """The setting of the study's own tables, whole: what `declared` says, else the base."""
        return {**base_of(self.opens()), **self.declared}

    def alternatives(self) -> list[Alternative]:
        """Other choices for open parameters; the page shows how the results depend on them."""
        return []

    def claim_tables(self, results: Results, built: Mapping[str, Built]) -> Mapping[str, list[Row]]:
        """The tables that claims read, by name: those of the experiments built, and of those that the combinations at hand also allow.

        A paper overrides this where claims read a table that is no experiment's (it is written as a CSV file, too), or where an
        alternative runs only some of the combinations.
        """
        have = {c.factors for c in results.combinations}
        rows = {}
        for e in self.experiments():
            if e.id in built:
                rows[e.id] = built[e.id].rows
            elif (need := [c for c in self.combinations() if e.needs(c)]) and all(c.factors in have for c in need):
                rows[e.id] = e.build(results).rows
        return rows

    def sensitivity_columns(self) -> list[SensitivityColumn]:
        """The numbers shown for each alternative."""
        return []

    def topology(self) -> Tree:
        """The scenario whose topology is drawn at the top of the page."""
        return self.combinations()[0].tree(1)

    def findings(self, results: Results, others: Mapping[str, Results]) -> list[str]:
        """Sentences with our numbers for the summary at the top of the page; `others`: results with each alternative, by its name."""
        return []

    def causes(self, results: Results, others: Mapping[str, Results]) -> Mapping[str, str]:
        """Why a claim comes out as it does, where that needs saying: with the numbers of the runs that show it."""
        return {}


@dataclass(frozen=True)
class SensitivityColumn:
    """A number shown for each alternative: a quantity of one combination."""

    title: str
    quantity: str
    unit: str
    factors: Mapping[str, object]
    published: float | None = None


def only_ids(only: str | Iterable[str] | None, key: str) -> list[str] | None:
    """The ids of ``--only``: a name, a comma list or a sequence; a leading "KEY/" is dropped."""
    if only is None:
        return None
    names = only.split(",") if isinstance(only, str) else list(only)
    return [n.strip().removeprefix(f"{key}/") for n in names if n.strip()]
