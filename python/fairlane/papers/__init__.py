"""Reproductions of published studies: run every table and figure again and put it beside the printed numbers.

>>> "sarma2013" in keys()
True
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import suggest

if TYPE_CHECKING:
    from .definition import Paper
    from .reproduction import Reproduction
    from .runner import Progress
    from .together import Reproductions

__all__ = ["keys", "load", "reproduce", "reproduce_all"]

_PAPERS = {
    "nowak2009": "Nowak2009",
    "ramachendra2014": "Ramachendra2014",
    "sarma2013": "Sarma2013",
    "syla2022": "Syla2022",
    "yang2001": "Yang2001",
}
"""Key of a paper (its module here, and its folder of data) and the class that defines it."""


def keys() -> list[str]:
    """The papers that can be reproduced."""
    return sorted(_PAPERS)


def data_folder() -> Path:
    """The folder with one folder of data per paper (the source tree's `papers` is a link to it)."""
    return Path(__file__).resolve().parent / "data"


def load(key: str) -> Paper:
    """The definition of a paper; an unknown key gives an error that names near ones."""
    if key not in _PAPERS:
        raise suggest(key, keys(), "paper")
    paper: Paper = getattr(import_module(f".{key}", __name__), _PAPERS[key])(data_folder() / key)
    return paper


def reproduce(
    key: str,
    only: str | Iterable[str] | None = None,
    quick: bool = False,
    out: str | PathLike[str] | None = None,
    progress: Progress | None = None,
    seeds: int | str | Iterable[int] | None = None,
) -> Reproduction:
    """Runs a study and writes its tables, figures, verdicts and page.

    `only`: one id ("table3"), several, or a comma list; the id of a claim ("S7") stands for the experiments it rests on; by
    default everything. `quick`: few replications and no study of the open parameters. `out`: the folder to write,
    `results/KEY` by default; finished runs are kept in it, so a second call goes on where the first one stopped.
    `progress(fraction, label)` is called about ten times a second and stops the reproduction by returning False. `seeds`: the
    replications, like "1..10", [1, 2] or one number.
    """
    from .reproduction import run_reproduction

    return run_reproduction(load(key), only=only, quick=quick, out=out, progress=progress, seeds=seeds)


def reproduce_all(quick: bool = False, out: str | PathLike[str] | None = None, progress: Progress | None = None) -> Reproductions:
    """Runs all studies, each into a folder of its own in `out` (`results` by default), and writes one page over them, `index.html`.

    The other parameters are those of `reproduce`. Only what the page over all needs of a study is kept when the next one begins:
    the result is a sequence of outlines with `key`, `claims`, `findings`, `page` and the whole `document`.
    """
    from .together import reproduce_papers

    return reproduce_papers([load(key) for key in keys()], quick=quick, out=out, progress=progress)
