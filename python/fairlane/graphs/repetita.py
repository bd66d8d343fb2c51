"""Reader of REPETITA's topologies and demands (repetita.info.ucl.ac.be, "Data Format"): rates in kbit/s, delays in microseconds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from ..base.files import read_input
from ..errors import FairlaneError, short
from .edges import PlainGraph, text_of

_HELP = "\n  = help: a topology of REPETITA is NODES N, a line `label x y`, a line for each node, then EDGES M and the same for edges"
_MOST_DEMANDS = 200_000


def topology(data: bytes, name: str) -> PlainGraph:
    """Reads a topology."""
    out = PlainGraph(directed=True, about={"capacity_unit": "kbit/s", "delay_unit": "us"})
    places: list[tuple[float, float]] = []
    for section, number, words in _rows(data, name, {"NODES": 3, "EDGES": 6}, _HELP):
        if section == "NODES":
            x, y = (_number(w, f"{name}:{number}", _HELP, low=-math.inf) for w in words[1:])
            out.add_node(len(places), {"label": words[0], "_line": number})
            places.append((x, y))
            continue
        start, end = (_node(w, len(places), f"{name}:{number}", _HELP) for w in words[1:3])
        weight, rate, delay = (_number(w, f"{name}:{number}", _HELP) for w in words[3:])
        about = {"weight": weight, "bw": rate, "delay": delay, "_line": number}
        out.add(start, end, {**about, "id": words[0]})
    # Without positions, all are 0.
    if any(place != (0, 0) for place in places):
        for number, (lon, lat) in enumerate(places):
            out.nodes()[number] |= {"lon": lon, "lat": lat}
    return out


def beside(graph: PlainGraph, name: str) -> str:
    """Adds the demands of `NAME.demands` or `NAME.0000.demands` next to a topology; returns a note, or nothing."""
    path = Path(name)
    other = next((p for end in (".demands", ".0000.demands") if (p := path.with_name(path.stem + end)).is_file()), None)
    if other is None:
        return ""
    help_text = "\n  = help: demands of REPETITA are DEMANDS N, a line `label src dest bw`, and a line for each demand"
    nodes = len(graph.nodes())
    for _, number, words in _rows(read_input(str(other)), str(other), {"DEMANDS": 4}, help_text):
        where = f"{other}:{number}"
        start, end = (_node(w, nodes, where, help_text) for w in words[1:3])
        graph.demands.append((start, end, _number(words[3], where, help_text), 0))
        if len(graph.demands) > _MOST_DEMANDS:
            raise FairlaneError(f"{where}: there are more than {_MOST_DEMANDS} demands")
    return f"demands of {other.name} next to it"


def _rows(data: bytes, name: str, sections: dict[str, int], help_text: str) -> Iterator[tuple[str, int, list[str]]]:
    """Yields section, line number and words of each row."""
    section, head, left = "", False, 0
    for number, line in enumerate(text_of(data, name).splitlines(), 1):
        words = line.split()
        if not words:
            continue
        if words[0] in sections and len(words) <= 2 and (len(words) == 1 or words[1].isdecimal()):
            if left > 0:
                raise FairlaneError(f"{name}:{number}: {section} lacks {left} rows{help_text}")
            section, head = words[0], True
            left = int(words[1][:9]) if len(words) == 2 else 0
        elif not section:
            raise FairlaneError(f"{name}:{number}: found {short(line.strip())}, expected {next(iter(sections))}{help_text}")
        elif head:
            head = False
        elif len(words) != sections[section]:
            found = f"found {short(line.strip())}, expected {sections[section]} words"
            raise FairlaneError(f"{name}:{number}: {found}{help_text}")
        else:
            left -= 1
            yield section, number, words
    if not section or left > 0:
        raise FairlaneError(f"{name}: {f'{section} lacks {left} rows' if section else 'there are no nodes'}{help_text}")


def _node(word: str, nodes: int, where: str, help_text: str) -> int:
    if not word.isdecimal() or len(word) > 9 or int(word) >= nodes:
        raise FairlaneError(
            f"{where}: {short(word)} is no node: nodes have the numbers 0 to {nodes - 1} in the order of the file{help_text}"
        )
    return int(word)


def _number(word: str, where: str, help_text: str, low: float = 0.0) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not low <= value <= 1e15:
        raise FairlaneError(f"{where}: {short(word)} is no number, or out of range{help_text}")
    return value
