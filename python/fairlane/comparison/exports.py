"""Table of a comparison for papers and web pages: LaTeX and Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .tables import measure_table

if TYPE_CHECKING:
    from .data import ComparisonData

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "%": r"\%", "&": r"\&", "#": r"\#", "_": r"\_", "$": r"\$",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "µ": r"$\mu$", "μ": r"$\mu$", "×": r"$\times$", "−": "$-$",
}  # fmt: skip


def latex(c: ComparisonData) -> str:
    """Returns a `tabular` for the package booktabs: a row per setting, a column per measure."""
    heads, rows = measure_table(c)
    body = [" & ".join(map(_tex, row)) + r" \\" for row in (heads, *rows)]
    lines = [
        rf"\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}",
        r"\toprule",
        body[0],
        r"\midrule",
        *body[1:],
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join([f"% {_note(c)}", *lines]) + "\n"


def markdown(c: ComparisonData) -> str:
    """Returns a table and the differences: a row per setting, a column per measure."""
    heads, rows = measure_table(c)
    lines = [_row(heads), "|" + "|".join(["---", *["---:"] * (len(heads) - 1)]) + "|", *map(_row, rows)]
    return "\n".join([*lines, "", *(f"- {_md(s)}" for s in c.sentences()), "", _note(c)]) + "\n"


def _note(c: ComparisonData) -> str:
    runs = f"{len(c.seeds)} runs each, means with 95 % intervals" if len(c.seeds) > 1 else f"seed {c.seeds[0]}"
    return f"fairlane: {c.settings[0].result.scenario['duration']} simulated, {runs}."


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_md, cells)) + " |"


def _md(text: str) -> str:
    return re.sub(r"([\\|*_`<>\[\]])", r"\\\1", " ".join(text.split()))


def _tex(text: str) -> str:
    return "".join(_SPECIAL.get(ch, ch) for ch in " ".join(text.split()))
