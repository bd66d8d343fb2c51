"""What the generated keyword dataclasses of `_params.py` share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar, NewType

Announced = NewType("Announced", str)
"""The name of an algorithm of one's own, announced while the program runs: no checker can know it."""


class Params:
    """Parameters of one algorithm. A field left at None keeps the default of its declaration."""

    _kind: ClassVar[str] = ""
    _name: ClassVar[str] = ""

    def table(self) -> dict[str, Any]:
        """The fields that were set, as they stand in a scenario file."""
        own = ((f.name, getattr(self, f.name)) for f in fields(self))  # type: ignore[arg-type]
        # A parameter whose name is a keyword of Python has an underscore behind it.
        return {name.rstrip("_"): plain(value) for name, value in own if value is not None}

    def spec(self) -> Any:
        """How a scenario file says it: the name alone, or the name as key of the table."""
        table = self.table()
        if self._kind == "transport":
            return table
        return {self._name: table} if table else self._name


def plain(value: Any) -> Any:
    """`value` in the types of TOML and JSON: parameter classes become tables, tuples become lists."""
    if isinstance(value, Params):
        return value.spec()
    if isinstance(value, type) and hasattr(value, "_parameters"):  # a queue of one's own
        return value.__name__
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items() if v is not None}
    if isinstance(value, (list, tuple, range)):
        return [plain(v) for v in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value) if getattr(value, f.name) is not None}
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):  # numpy scalars
        return value.item()
    return value
