"""Optional libraries, by the extra that installs them."""

from __future__ import annotations

from ..errors import FairlaneError

_TABLES = ("numpy", "polars")
_PLOTS = (*_TABLES, "matplotlib")
_STUDY = (*_PLOTS, "scipy", "jinja2")

EXTRAS: dict[str, tuple[str, ...]] = {
    "tables": _TABLES,
    "plots": _PLOTS,
    "study": _STUDY,
    "tune": (*_STUDY, "optuna"),
    "cluster": (*_STUDY, "distributed"),
    "mpi": (*_STUDY, "mpi4py"),
    "arrow": (*_TABLES, "pyarrow"),
    "query": ("duckdb",),
    "pandas": (*_TABLES, "pandas", "pyarrow"),
    "xarray": (*_TABLES, "xarray"),
    "graphs": ("networkx",),
    "watch": (*_STUDY, "aiohttp"),
}
"""The extras of pyproject.toml with their modules."""


class MissingError(FairlaneError):
    """A missing optional library; the message names the extra to install."""


def need(extra: str) -> None:
    """Raises `MissingError` if a library of an extra is missing.

    >>> need("tables")
    """
    from importlib.util import find_spec

    missing = [m for m in EXTRAS[extra] if find_spec(m) is None]
    if missing:
        names = " and ".join(filter(None, (", ".join(missing[:-1]), missing[-1])))
        raise MissingError(f"{names} {'is' if len(missing) == 1 else 'are'} not installed: pip install 'fairlane[{extra}]'")
