"""Pages of the corpus of worst paths, and the mechanisms behind what is found."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..base.files import save_bytes
from .corpus import QUEUES, Entry

_MADE = "<!-- Made by `python -m fairlane.worst.corpus`. -->"


@lru_cache(maxsize=1)
def mechanisms() -> list[dict[str, Any]]:
    """Returns mechanisms.toml: `of`, names of algorithms; `on`, changes or kinds of search; the text and its source."""
    found: list[dict[str, Any]] = tomllib.loads(files(__package__).joinpath("mechanisms.toml").read_text("utf-8"))["mechanism"]
    return found


def mechanism(name: str, entry: Entry) -> dict[str, Any] | None:
    """Returns the mechanism of a finding: the first that is declared for the algorithm and one of the changes, or for the kind."""
    known = {entry.kind, *entry.changes}
    return next((m for m in mechanisms() if name in m["of"] and known & set(m["on"])), None)


def write(name: str, found: Sequence[Entry], folder: Path) -> None:
    """Writes the page of an algorithm, and the picture of its worst path."""
    picture = ""
    best = max((e for e in found if e.picture), key=_effect, default=None)
    if best is not None:
        save_bytes(folder / f"{name}.svg", Path(best.picture).read_bytes())
        picture = f"![Congestion windows of {name} and {best.reference}: {best.kind.lower()}]({name}.svg)"
    save_bytes(folder / f"{name}.md", page(name, found, picture).encode())


def _effect(e: Entry) -> float:
    return float(e.cells[2].split()[0])


def page(name: str, found: Sequence[Entry], picture: str = "") -> str:
    """Returns the page of an algorithm: its worst paths, what it loses, who does better, and why."""
    sort = "queue" if name in QUEUES else "congestion control"
    out = [f"# Worst paths of {name}", "", _MADE, ""]
    out += [f"Three searches of {found[0].tried} paths each, with three seeds, compared with another {sort} on the same path; the "
            "values are means with 95 % intervals over eight seeds that the searches did not use. "
            f"[The overview](../worst-paths.md) explains them. The {sort} has its default parameters.", ""]  # fmt: skip
    if picture:
        out += [picture, ""]
    for e in found:
        out += [f"## {e.kind}", "", _escaped(e.summary), ""]
        if not e.found:
            continue
        out += [f"| {e.word} | {name} | {e.reference} | difference |", "|---|---|---|---|", f"| eight seeds | {' | '.join(e.cells)} |", ""]
        better = ", ".join(f"{n} ({value})" for n, value in e.better)
        out += [f"Best of the {e.rank[1]} on this path: {better}. {name} is number {e.rank[0]}.", ""]
        why = mechanism(name, e)
        if why is not None:
            out += [f"**Mechanism.** {why['text']} ({why['source']}).", ""]
        out += [*(f"- {who}: {_escaped(line)}" for who, line in e.limits), "", "```toml", _scenario(e), "```", ""]
    return "\n".join(out).rstrip() + "\n"


def overview(found: Mapping[str, Sequence[Entry]], folder: str) -> str:
    """Returns the table of all algorithms."""
    out = ["# Worst paths", "", _MADE, "", _INTRODUCTION.strip(), ""]
    for title, chosen in (("Congestion controls", [n for n in found if n not in QUEUES]), ("Queues", [n for n in found if n in QUEUES])):
        kinds = [e.kind for e in found[chosen[0]]] if chosen else []
        out += [f"## {title}", "", f"| | {' | '.join(kinds)} |", "|---|" + "---|" * len(kinds)]
        for name in chosen:
            cells = [_cell(e) for e in found[name]]
            out.append(f"| [{name}]({folder}/{name}.md) | {' | '.join(cells)} |")
        out.append("")
    return "\n".join(out)


def _cell(e: Entry) -> str:
    """Returns what the algorithm and its reference get, and what changes."""
    if not e.found:
        return "nothing found"
    own, other = (_mean(c) for c in e.cells[:2])
    return f"{own}, {e.reference} {other}: {', '.join(_short(x) for x in e.changes)}"


def _mean(cell: str) -> str:
    """Returns the mean of a value with its interval, in three digits.

    >>> _mean("2.379 ± 0.012 s"), _mean("0.853 ± 0.0017")
    ('2.38 s', '0.853')
    """
    words = cell.split()
    unit = words[-1] if words[-1][0].isalpha() or words[-1] == "%" else ""
    return f"{float(f'{float(words[0]):.3g}'):g} {unit}".rstrip()


def _short(change: str) -> str:
    """Returns the name of a change as two words.

    >>> _short("flows.udp.source.on_off.rate"), _short("flows.tcp.tcp"), _short("delay")
    ('udp rate', 'tcp control', 'delay')
    """
    parts = change.split(".")
    return change if len(parts) == 1 else f"{parts[1]} {'control' if parts[-1] == 'tcp' else parts[-1]}"


def _scenario(e: Entry) -> str:
    """Returns the scenario without the sentence that the page has already."""
    lines = [
        x.replace("fairlane run 1.toml", "fairlane run path.toml") for x in e.scenario.splitlines() if not x.startswith("# Worst path")
    ]
    return "\n".join(lines).strip()


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


_INTRODUCTION = """
For each congestion control and for ten queues: three paths on which it does worst, found by
[`fairlane worst`](../guides/worst-paths.md), shrunk to the fewest changes, and confirmed on seeds that the search did not use. A page has
what the algorithm loses, who does better there, the mechanism with its source, and the scenario.

The values of congestion controls are goodput in units of what the path leaves; above 1, the flow takes from competing bursts. Queues are
judged by the 99th percentile of the packet delay, by the use of the link, and by the losses of a stream of UDP bursts. A search tries 80
paths only, so what it finds is bad, and not the worst there is.
"""
