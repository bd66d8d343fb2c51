"""The commands `import` and `export`: conversion from and to files of other programs."""

from __future__ import annotations

from typing import Any

import click

from .output import emit, emit_json, render, wrote
from .seeds import SEED


@click.command(name="import")
@click.argument("file", metavar="[tc|ns2|mininet|flows] FILE...", nargs=-1)
@click.option(
    "-o", "--out", metavar="PATH", help="The result folder, or the scenario file, to write. An existing one is an error without --force."
)
@click.option("--rate", metavar="RATE", help="Rate of devices and links whose rate the file does not say (default: 1Gbit/s).")
@click.option(
    "--join",
    "joins",
    metavar="A:DEV=B:DEV",
    multiple=True,
    help="Devices at the ends of a link, with `tc` and the files of several machines.",
)
@click.option("--sample", metavar="STEP", help="Step of the time series, such as 10ms (default: about a thousand samples).")
@click.option("--list", "listed", is_flag=True, help="List the formats.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, as `run` does.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing.")
@click.option("--force", is_flag=True, help="Replace an existing result folder.")
def import_(
    file: tuple[str, ...],
    out: str | None,
    rate: str | None,
    joins: tuple[str, ...],
    sample: str | None,
    listed: bool,
    as_json: bool,
    quiet: bool,
    force: bool,
) -> None:
    """Import a recording or a log of another program as a result folder, or its description of a network as a scenario.

    The first bytes of FILE say what it is: a capture, a trace of ns-2 or ns-3, a log of iperf3, ss, QUIC, flent, tcptrace or OMNeT++;
    --list shows all. docs/guides/formats.md describes the conversion.

    With `tc`, FILE has commands of tc, a script of `fairlane tc`, or the output of `tc qdisc show`; several files are of several
    machines. With `ns2`, a Tcl script of ns-2; with
    `mininet`, a topology of Mininet in Python, which is read and not executed; with `flows`, a list of flows as NetFlow exports have it
    (start,bytes,from,to). The scenario is printed, or written to the file of --out.
    """
    from .described import described, scenario_from

    if listed:
        return _list_readers()
    if not file:
        raise click.UsageError("give a file and what to write: fairlane import FILE -o DIR, or --list")
    kind, names = described(file)
    if kind:
        return scenario_from(kind, names, out, rate=rate, joins=joins, as_json=as_json, quiet=quiet, force=force)
    if out is None:
        raise click.UsageError("give a file and what to write: fairlane import FILE -o DIR, or --list")
    if rate is not None or joins:
        raise click.UsageError("--rate and --join are for scenarios: fairlane import tc FILE --rate 100Mbit/s")
    from ..formats.imports import import_file, summary

    result = import_file(names[0], out, force=force, sample=sample)
    if as_json:
        emit_json(result.document())
    elif not quiet:
        from ..runs.sheets import flow_sheet, link_sheet

        sheets = [s for s in (flow_sheet(result, False), link_sheet(result)) if s is not None]
        emit(render(*_words(summary(result)), *(x for s in sheets for x in ("", s)), "", *_words(f"warning: {w}" for w in result.warnings)))
    from pathlib import Path

    wrote([Path(out)], as_json=as_json, quiet=quiet)
    return None


def _list_readers() -> None:
    """Prints the formats that can be imported."""
    from ..formats.readers import DESCRIPTIONS, READERS
    from ..look.sheet import Sheet

    rows = [(r.name, r.what.replace("`", ""), r.gives) for r in READERS]
    rows += [(f"{d.kind} FILE", d.what.replace("`", ""), "a scenario") for d in DESCRIPTIONS.values()]
    emit(render(Sheet(["format", "files", "result"], rows, words=(1, 2))))


def _words(lines: Any) -> list[Any]:
    from ..look.sheet import Words

    return [Words(line) for line in lines]


@click.command()
@click.argument("folder", required=False, metavar="RESULT")
@click.argument("form", required=False, metavar="FORMAT")
@click.option("-o", "--out", metavar="FILE", help="The file to write. An existing one is an error without --force.")
@click.option("--list", "listed", is_flag=True, help="List the formats.")
@click.option("--seed", type=SEED, metavar="N", help="Seed of the run (default: the first).")
@click.option("--flow", multiple=True, metavar="NAME", help="A flow; repeatable.")
@click.option("--link", multiple=True, metavar="NAME", help="A direction of a link; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
def export(
    folder: str | None,
    form: str | None,
    out: str | None,
    listed: bool,
    seed: int | None,
    flow: tuple[str, ...],
    link: tuple[str, ...],
    as_json: bool,
    force: bool,
) -> None:
    """Export a run of the result folder RESULT for another program: flent, qlog or mahimahi.

    docs/guides/formats.md lists all formats, also those that `run` writes (--trace-format, --pcap).
    """
    from ..runs.exports import FORMATS

    if listed:
        if as_json:
            rows = [{"name": f.name, "ending": f.ending, "what": f.what, "reads": f.reads, "takes": list(f.takes)} for f in FORMATS]
            return emit_json(_document(formats=rows))
        from ..look.sheet import Sheet

        return emit(
            render(Sheet(["format", "file", "content", "read by"], [(f.name, f.ending, f.what, f.reads) for f in FORMATS], words=(2, 3)))
        )
    if folder is None or form is None or out is None:
        raise click.UsageError("give a result folder, a format and a file: fairlane export RESULT flent -o FILE, or --list")
    from ..runs.result import load

    path = load(folder).export(form, out, seed=seed, flow=flow, link=link, force=force)
    if as_json:
        emit_json(_document(format=form, file=str(path), bytes=path.stat().st_size))
    wrote([path], as_json=as_json, quiet=as_json)


def _document(**of: Any) -> dict[str, Any]:
    from .. import _core

    return {"schema": "fairlane.export/1", "fairlane": _core.version(), **of}
