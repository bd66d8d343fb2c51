"""The command `draw`."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import FairlaneError, ScenarioError
from . import completion
from .file_kinds import other_kind
from .log import given
from .output import assignments, emit_document, emit_json, plugin_option, wrote


@click.command()
@click.argument("file", shell_complete=completion.scenarios)
@click.option(
    "-o", "--out", "out", metavar="NAME.svg", help="Write NAME.svg, NAME.dot (also .gv) or NAME.graphml; the extension selects the format."
)
@completion.set_option("Change any value, such as topology.grid.rows=5.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@plugin_option
def draw(file: str, out: str | None, sets: tuple[str, ...], force: bool, as_json: bool) -> None:
    """Draw the network of a scenario, with the rate, the delay and the queue of every link.

    Without -o the drawing (SVG) goes to standard output. Node positions come from the topology builder or [positions], otherwise from
    distances in hops. docs/guides/drawing-networks.md has examples, and shows how other tools read GraphML and DOT.
    """
    from ..base.files import save_bytes
    from ..base.outputs import new_file
    from ..base.scenario import resolve
    from ..graphs import FORMATS, document, graph_of, render_graph

    ending = ".svg" if out is None else Path(out).suffix.lower()
    if ending not in FORMATS:
        raise FairlaneError(f"cannot draw {out}: the name must end in {', '.join(list(FORMATS)[:-1])} or {list(FORMATS)[-1]}")
    target = None if out is None else new_file(out, force=force)
    source = given(file)
    try:
        resolved = resolve(source, assignments(sets))
    except ScenarioError as e:
        raise other_kind(file, e, "scenario") from None
    graph = graph_of(resolved, Path(file).stem if file != "-" else "")
    text = render_graph(graph, ending) if target is not None or not as_json else ""
    if target is not None:
        save_bytes(target, text.encode("utf-8"), new=not force)
    if as_json:
        emit_json(document(graph))
    elif target is None:
        emit_document(text, "xml")
    wrote([target] if target is not None else [], as_json=as_json, quiet=False)
