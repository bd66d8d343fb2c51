"""The reference page of tune files, made from their schema: `python -m fairlane.tuning.manual > docs/reference/tuning.md`."""

from __future__ import annotations

from typing import Any

from ..base import toml
from ..base.manual import key_table
from .default_ranges import LEFT_OUT, ranges
from .page import RULES
from .reader import schema

_SEARCH = (
    'Each key of `[search]` is a queue with its parameters (`{}`: its defaults alone; `"auto"`: the ranges below), or a label of your own '
    "whose value is a queue as a table or as text, so that several trees of one kind can stand side by "
    'side. `search = "all"` takes every queue '
    "below; a list of names takes some."
)
_RANGE = (
    "A table instead of a value makes a parameter part of the search, anywhere inside a queue, also in classes and their queues: "
    '`{ from = "5p", to = "200p" }`, with `scale = "log"` where factors matter more than differences; '
    '`{ of = "min", from = 1.5, to = 5.0 }` for a multiple of another parameter of the table, so that `max` never falls below `min`; '
    "`{ choices = [...] }` for one of several values, names, or queues with their own ranges. Packets, bytes and counts are whole; "
    "other numbers are drawn to three digits. A queue whose numbers do not fit together is not an error: it counts as a setting "
    "that violates a constraint."
)


def page() -> str:
    """docs/reference/tuning.md."""
    root = schema()
    parts = [
        "# Tune files",
        "<!-- Made by `python -m fairlane.tuning.manual` from python/fairlane/schemas/tune-file.json: change that. -->",
        f"{root['description']} TOML, or JSON if the name ends in `.json`; `fairlane schema tune-file` prints the JSON Schema. "
        "`fairlane.Tuning` has the same keys as arguments. See [the guide](../guides/tuning.md).",
        "## Keys",
        _rows(root, root),
        "Metrics are named as in [study files](studies.md). All faults are reported together, each with its place, before anything runs.",
        "## Objectives",
        _rows(root, root["$defs"]["objective"]),
        "## Constraints",
        _rows(root, root["$defs"]["constraint"]),
        "The mean over the seeds has to keep the bound in every training scenario.",
        "## Training scenarios",
        _rows(root, root["$defs"]["scenario"]),
        "## The choice",
        "\n".join(f"- `{name}`: {text}" for name, text in RULES.items()),
        "## Search",
        _SEARCH,
        _RANGE,
        "### Default ranges",
        "\n".join(["| queue | ranges |", "|---|---|", *(f"| `{n}` | `{toml.value(r)}` |" for n, r in ranges().items())]),
        "Without default ranges: " + "; ".join(f"`{n}` ({why})" for n, why in LEFT_OUT.items() if n != "plugin") + ".",
    ]
    return "\n\n".join(parts) + "\n"


def _rows(root: dict[str, Any], spec: dict[str, Any]) -> str:
    """Returns a table of keys, with references resolved."""
    properties = {k: {**root["$defs"]["seeds"], **p} if p.get("$ref") == "#/$defs/seeds" else p for k, p in spec["properties"].items()}
    for p in properties.values():
        if p.get("$ref") == "#/$defs/seeds":
            del p["$ref"]
    return key_table(root, {**spec, "properties": properties})


if __name__ == "__main__":
    import sys

    sys.stdout.write(page())
