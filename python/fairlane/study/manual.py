"""The reference page of study files, made from their schema: `python -m fairlane.study.manual > docs/reference/studies.md`."""

from __future__ import annotations

from typing import Any

from ..base.manual import key_table
from .factors import RESERVED
from .reader import MOST_RUNS, schema
from .settings import SETTING


def page() -> str:
    """docs/reference/studies.md."""
    root = schema()
    reserved = ", ".join(f"`{w}`" for w in RESERVED)
    parts = [
        "# Study files",
        "<!-- Made by `python -m fairlane.study.manual` from python/fairlane/schemas/study-file.json: change that. -->",
        f"{root['description']} TOML, or JSON if the name ends in `.json`; `fairlane schema study-file` prints the JSON Schema. "
        "`fairlane.Study` has the same keys as arguments.",
        _block(root["x-example"]),
        "## Keys",
        key_table(root, root),
        "All faults of a study are reported together, with file, line and column, before anything runs.",
        "## Factors",
        'A path is any that `--set` takes, in quotes or bare: `"links.bottleneck.rate"` or `links.bottleneck.rate`; '
        'names with spaces or dots are quoted, as in TOML: `links."my link".rate`. '
        "The column of a factor in tables is the shortest unique end of its path (`rate`), or its name. "
        "Levels that are quantities are numbers there, in SI units (bit/s, s, byte, packets). "
        "Two factors cannot change the same value, nor can one change a value that the other selects: "
        "put a queue and the parameters of another queue into one factor with `levels`.",
    ]
    for name in ("Levels", "Range", "Factor"):
        parts += _section(root, name, "###")
    parts += [
        "### A zip",
        f"{root['properties']['zip']['description']} Its column is that of the first path whose levels all differ.",
    ]
    parts += _section(root, "Settings", "##")
    parts += ["### Varied parameters", root["properties"]["open"]["description"] + " The choices of a list are equally likely."]
    for name in ("OpenRange", "Open"):
        parts += _section(root, name, "####")
    parts.append(
        f"Tables number the settings in the column `{SETTING}`, and have a column for each varied parameter: a range is a number in SI "
        "units, a choice is text."
    )
    for name in ("Claim", "Precision", "Plot"):
        parts += _section(root, name, "##")
    parts += [
        "## Limits",
        f"A study has at most {MOST_RUNS:,} runs (combinations times seeds). Columns cannot be called {reserved}.",
    ]
    return "\n\n".join(parts) + "\n"


def _section(root: dict[str, Any], name: str, mark: str) -> list[str]:
    spec = root["$defs"][name]
    table = key_table(root, spec)
    return [f"{mark} {spec['title']}", spec["description"], *([table] if table else [])]


def _block(lines: list[str]) -> str:
    return "\n".join(["```text", *lines, "```"])


if __name__ == "__main__":
    import sys

    sys.stdout.write(page())
