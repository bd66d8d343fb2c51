"""`StudyResult`: the results of a study, with its pictures, its page and its files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from ..errors import FairlaneError, suggest
from . import plan_file
from .analysis import StudyAnalysis
from .model import PlotSpec, StudySpec
from .store import Store
from .tables import listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..runs.limits import LimitReport as Why
    from ..runs.plots.overlay import KindOptions
    from ..runs.result import Result


TABLES = ("runs.csv", "summary.csv", "settings.csv")
"""The tables that are written for people."""


class StudyResult(StudyAnalysis):
    """The results of a study: of `Study.run`, or of a folder (`load_study`).

    Rows of all tables follow the combinations of the study (the last factor varies fastest) and then the seeds, wherever and in whatever
    order the runs were computed. A column of a factor holds the labels of its levels: numbers in SI units if all of them are quantities or
    numbers, else text.
    """

    command: str = ""
    """How to repeat the study, as its page shows it."""

    # --- pictures -------------------------------------------------------------------------------------

    def plot(
        self,
        y: str,
        x: str = "",
        *,
        by: str = "",
        panel: str = "",
        kind: str = "",
        log: str | Iterable[str] = (),
        title: str = "",
        path: str | PathLike[str] | None = None,
        where: Mapping[str, Any] | None = None,
        ax: Axes | Iterable[Axes] | None = None,
        **options: Unpack[KindOptions],
    ) -> Figure:
        """A figure of the metric `y`, with intervals over the seeds; `path` saves it as SVG, PNG or PDF, by its ending.

        `kind`: line or bar (over the factor `x`, by default the one with most levels), scatter (over another metric `x`; seeds are
        faint), heatmap (factors `x` and `by`), box, or ecdf (the distribution of all runs). `by` gives each level of a factor a colour,
        `panel` a panel. `log` names logarithmic axes: "x", "y" or both. Factors that have no place are averaged over within each seed.

        Where `y` is a kind of `fairlane plot --list` ("queue-events", "ellipses"...), it is drawn of every combination, `where` leaving
        those with these levels, over one another or in panels by the levels of the factor `panel`; `ax` and `options` are as in
        `fairlane.plot`.
        """
        from ..runs.plots import KINDS as OF_RESULTS

        if y in OF_RESULTS:
            return self._drawn(y, panel, where, ax, path, options)
        if options or where or ax is not None:
            option = next(iter([*options, *(["where"] if where else []), "ax"]))
            raise FairlaneError(f"{option}= goes with kinds of pictures ({', '.join(list(OF_RESULTS)[:4])}...), not with the metric {y!r}")
        from .plots import KINDS, default_kind, picture

        axes = listed(log)
        for axis in axes:
            if axis not in ("x", "y"):
                raise suggest(axis, ["x", "y"], "axis")
        if kind and kind not in KINDS:
            raise suggest(kind, list(KINDS), "kind of picture")
        figure = picture(self, PlotSpec(kind or default_kind(self, x), y, x, by, panel, title=title, log=tuple(axes)))
        if path is not None:
            from ..look.figures import save_figure

            save_figure(figure, path)
        return figure

    def _drawn(
        self,
        kind: str,
        panel: str,
        where: Mapping[str, Any] | None,
        ax: Axes | Iterable[Axes] | None,
        path: str | PathLike[str] | None,
        options: KindOptions,
    ) -> Figure:
        from ..runs.plots.figure import draw
        from ..runs.plots.overlay import save
        from .combinations import panelled

        combinations = panelled(self, panel, where)
        figure = draw(
            [(name, r) for _, name, r in combinations], kind, ax=ax, panels=[t for t, *_ in combinations] if panel else (), **options
        ).figure
        if path is not None:
            save(figure, path, options.get("style", "screen"))
        return figure

    def results(self, **where: Any) -> dict[str, Result]:
        """The finished combinations as results, by their levels; `where` leaves those with these levels: `results(queue="red")`.

        They have the tables of a `Result`, as far as the study kept them, but no events.
        """
        from .combinations import panelled

        return {name: r for _, name, r in panelled(self, "", where)}

    def why(self, **where: Any) -> dict[str, Why]:
        """Returns the limits of the flows of each finished combination, or of those with these levels: `why(queue="red")`.

        The first run of each combination is made again, watched; it has the fingerprint of the one that is kept. See `Result.why`.
        """
        from .combinations import MOST, named
        from .replay import watched

        return {named(self, p): r.why() for p, _, r in watched(self, where, MOST)}

    def plots(self) -> dict[str, Figure]:
        """The pictures that the study asks for, or one for each metric, by file name; over settings two for each claim."""
        from .claim_views import figures
        from .plots import picture, specs

        return {**{p.name: picture(self, p) for p in specs(self)}, **figures(self)}

    # --- what is written ------------------------------------------------------------------------------

    def document(self, *, why: bool = False) -> dict[str, Any]:
        """The document that `fairlane study --json` prints; with `why` what limited flows in the first run of each combination."""
        from .document import document

        return document(self, why=why)

    @staticmethod
    def check_room(folder: str | PathLike[str], spec: StudySpec) -> None:
        """Raises `FolderError` if something stands where `save` writes: before the study is run."""
        from ..base import sha256sums
        from ..base.outputs import room_for
        from .claim_views import file_names

        names = [*(p.name for p in spec.plots), *file_names(spec.claims, spec.settings)]

        room_for(Path(fspath(folder)), ("index.html", *TABLES, sha256sums.NAME, *(f"plots/{n}.svg" for n in names)), ("plots",))

    def save_tables(self) -> list[Path]:
        """Writes `runs.csv` and `summary.csv` into the folder; over settings `settings.csv` as well."""
        from ..base.csv_text import csv_of
        from ..base.sha256sums import listed

        with listed(self.folder) as put:
            tables = {"runs.csv": self.runs(), "summary.csv": self.summary()}
            if self.spec.settings is not None:
                tables["settings.csv"] = self.settings()
            return [put(name, csv_of(frame)) for name, frame in tables.items()]

    def save_plots(self) -> list[Path]:
        """Writes `plots/*.svg` into the folder."""
        from ..base.sha256sums import listed
        from ..look.theme import svg
        from .claim_views import figures
        from .plots import drawn, specs

        with listed(self.folder) as put:
            files = [put(f"plots/{p.name}.svg", drawn(self, p).encode()) for p in specs(self)]
            return files + [put(f"plots/{name}.svg", svg(figure).encode()) for name, figure in figures(self).items()]

    def page(self, path: str | PathLike[str] | None = None, *, why: bool = False, replays: Sequence[str] = (), force: bool = False) -> str:
        """Returns an HTML report that opens offline: what was asked, pictures, what matters, differences, means.

        `path`: also writes it as a file; an existing file is replaced only with `force`. `why`: what limited the flows of each combination,
        from its first run made again. `replays`: up to four runs that move in the page, each named by levels, such as
        "queue=codel load=0.8".
        """
        from ..base.outputs import kept_text
        from .page import page

        return kept_text(lambda: page(self, self.command, why=why, replays=replays), path, force=force)

    def save(self, *, why: bool = False, replays: Sequence[str] = ()) -> list[Path]:
        """Writes `index.html` (see `page`), the tables and the pictures into the folder, and says which files those are.

        Files that are there, whole and made from the same results, are not made again.
        """
        from ..base.sha256sums import listed, record_source, source_of

        source = "" if why or replays else self._source()
        if source and source_of(self.folder) == source:
            return self._saved()
        with listed(self.folder) as put:
            page = put("index.html", self.page(why=why, replays=replays).encode())
        files = [page, *self.save_tables(), *self.save_plots()]
        if source:
            record_source(self.folder, source)
        return files

    def _source(self) -> str:
        """Returns a digest of everything that the page, the tables and the pictures are made from."""
        from ..base.files import package_stamp
        from .integrity import INDEX

        made = hashlib.sha256(repr((package_stamp(), self.command, self.notes)).encode())
        try:
            for name in (plan_file.NAME, INDEX):
                made.update(hashlib.sha256((self.folder / name).read_bytes()).digest())
        except OSError:
            return ""
        return made.hexdigest()

    def _saved(self) -> list[Path]:
        """Returns the files that `save` writes."""
        from .claim_views import file_names
        from .plots import specs

        tables = [t for t in TABLES if t != "settings.csv" or self.spec.settings is not None]
        names = [*(p.name for p in specs(self)), *file_names(self.spec.claims, self.spec.settings)]
        files = [self.folder / n for n in ("index.html", *tables, *(f"plots/{n}.svg" for n in names))]
        return [f for f in files if f.exists()]

    def _repr_html_(self) -> str:
        from .html import study_html

        return study_html(self)

    def __str__(self) -> str:
        from ..look.sheet import plain
        from .terminal import report

        return plain(*report(self, ()))

    def __repr__(self) -> str:
        n, combinations = self._done.height, len(self.combinations)
        return f"StudyResult({self.spec.name}: {combinations} combination{'s' * (combinations != 1)}, {n} of {self.index.height} runs done)"


def load_study(folder: str | PathLike[str]) -> StudyResult:
    """Reads the folder of a study, without running anything; raises `FolderError` if it is none.

    What is not finished yet is not in the tables: `index` says which runs those are.
    """
    from ..errors import FolderError

    path = Path(fspath(folder))
    spec, combinations, _ = plan_file.read(path)
    store = Store(path, read_only=True)
    index = store.read_index()
    if index is None:
        raise FolderError(f"{path} is not the folder of a study: its index.parquet is missing or damaged; run the study again")
    return StudyResult(spec, combinations, store, index)
