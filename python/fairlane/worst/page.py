"""The page of a search: one HTML file without any link to the network."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from ..base.format import quantity
from ..look.rerun import MOST_SCENARIO, Rerun, code_warning
from ..look.templates import render, saved_link
from ..look.web_charts import Chart, Charts, Line
from .confirm import value_text
from .plots import stairs
from .terminal import head, rows

if TYPE_CHECKING:
    from .model import Finding
    from .outcome import WorstOutcome


def page(r: WorstOutcome) -> str:
    """Returns the page as text."""
    from .. import _core

    drawn = [c for f in r.findings for c in (*([_windows(f)] if f.curves else []), _rate(r, f))]
    progress = _progress(r)
    s = r.spec
    return render(
        "worst/page.html.j2", r=r, s=s, head=head(r), live=Charts([*drawn, *progress]), drawn={c.name for c in drawn},
        progress=[c.name for c in progress], table=rows(r), version=_core.version(),
        paths=[(f, _changes(r, f), saved_link(f.scenario, f"{f.number}.toml", f"{f.number}.toml", "application/toml")) for f in r.findings],
        values=[value_text(s, x) for f in r.findings[:1] for x in (f.own.mean, f.other.mean)],
        other=" ".join(shlex.quote(w) for k, v in s.other.items() for w in ("--set", f"{k}={v}")),
        repeat=_again(r), quantity=quantity,
    )  # fmt: skip


def _changes(r: WorstOutcome, f: Finding) -> tuple[list[str], list[list[str]]]:
    from ..base.toml import value as as_toml

    rows = [[path, as_toml(value)] for name, state in f.shrunk.candidate.items() for path, value in r.spec.change(name).sets(state).items()]
    return ["path", "value"], rows


def _windows(f: Finding) -> Chart:
    """Returns the windows of subject and reference over one another."""
    lines = [Line(name, times, values, hue=i) for i, (name, times, values) in enumerate(f.curves)]
    title = f"Congestion windows on path {f.number}"
    return Chart(f"windows-{f.number}", title, "time (s)", "congestion window (kB)", lines, link=f"path-{f.number}")


def _rate(r: WorstOutcome, f: Finding) -> Chart:
    """Returns the rate of the link over time."""
    times, rates = stairs(r.spec, f)
    lines = [Line(r.spec.capacity.link, times, rates, hue=2)]
    return Chart(f"rate-{f.number}", f"Rate of the link on path {f.number}", "time (s)", "rate (Mbit/s)", lines, link=f"path-{f.number}")


def _progress(r: WorstOutcome) -> list[Chart]:
    """Returns the worst effect against the number of paths."""
    if len(r.curve) < 2:
        return []
    xs, ys = [float(n) for n, _ in r.curve], [x for _, x in r.curve]
    if xs[-1] < r.evaluations:
        xs, ys = [*xs, float(r.evaluations)], [*ys, ys[-1]]
    unit = r.spec.objective.unit
    label = f"worst difference so far{f' ({unit})' if unit not in ('1', '') else ''}"
    return [Chart("progress", "Progress of the search", "paths tried", label, [Line("worst so far", xs, list(ys))], from_zero=False)]


def _again(r: WorstOutcome) -> Rerun:
    """Returns the command that repeats the search."""
    from .. import _core

    s = r.spec
    command = shlex.join(["fairlane", "worst", *s.command, "--budget", str(r.evaluations)])
    from ..base.toml import dumps

    base = dumps(dict(s.tree))
    facts = [("seed of the search", str(s.seed)), ("paths", str(r.evaluations)), ("fairlane", _core.version())]
    shown = base if len(base) <= MOST_SCENARIO else ""
    return Rerun("", command, "", shown, None, facts, "The unchanged path", code_warning(s.plugins))
