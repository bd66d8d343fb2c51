"""The command `bench`."""

from __future__ import annotations

from typing import Any

import click

from .output import emit, emit_json, line_width, plugin_option


@click.command()
@click.argument("names", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option(
    "--repeat",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Repetitions (default: 1, the lowest CPU time is reported; with --against: 5, the median).",
)
@click.option(
    "--against",
    type=click.Choice(["ns2", "ns3", "htsim"]),
    help="Alternate with another simulator (htsim: P5, P6, P7).",
)
@plugin_option
def bench(names: tuple[str, ...], as_json: bool, repeat: int | None, against: str | None) -> None:
    """Measure the benchmarks P1-P10 (or NAMES): CPU time and memory for each packet on each link.

    bench queues [NAMES]: the cost of each queue, alone and at the bottleneck of P1.

    bench growth [NAMES]: the cost of a packet on a link as rates, windows, flows and queues grow, and its ratio.
    """
    if against is not None:
        _bench_against(against, names, as_json, repeat)
        return
    repeat = repeat or 1
    if names[:1] == ("queues",):
        _bench_queues(names[1:], as_json, repeat)
        return
    if names[:1] == ("growth",):
        _bench_growth(names[1:], as_json, repeat)
        return
    from ..bench.benchmarks import choose, run_bench
    from ..bench.terminal import scenario_heads, scenario_row

    choose(names)
    if as_json:
        emit_json(run_bench(names, repeat=repeat))
        return
    width = line_width()
    emit(scenario_heads(width))
    run_bench(names, repeat=repeat, report=lambda r: emit(scenario_row(r, width)))


def _bench_against(name: str, names: tuple[str, ...], as_json: bool, repeat: int | None) -> None:
    from textwrap import wrap

    from ..bench.simulators import PAIRS, choose, run_against, scenarios
    from ..bench.terminal import against_heads, against_row

    peer = choose(name)
    scenarios(peer, names)
    if as_json:
        emit_json(run_against(peer, names, pairs=repeat or PAIRS))
        return
    width = line_width()
    heads = [against_heads(width)]

    def show(row: dict[str, Any]) -> None:
        emit("\n".join([*heads, against_row(row, width)]))
        heads.clear()

    found = run_against(peer, names, pairs=repeat or PAIRS, report=show)
    lengths = " and ".join(f"{r['simulated_s']:g} s" for r in found["results"])
    summary = f"{peer.called} compared with fairlane, {repeat or PAIRS} alternating runs each, {lengths} simulated: CPU time per packet-hop"
    emit("\n".join(wrap(summary, width)))


def _bench_queues(names: tuple[str, ...], as_json: bool, repeat: int) -> None:
    from ..bench.queues import choose, run_queues
    from ..bench.terminal import queue_heads, queue_row

    choose(names)
    if as_json:
        emit_json(run_queues(names, repeat=repeat))
        return
    width = line_width()
    emit(queue_heads(width))
    run_queues(names, repeat=repeat, report=lambda r: emit(queue_row(r, width)))


def _bench_growth(names: tuple[str, ...], as_json: bool, repeat: int) -> None:
    from ..bench.growth import choose, run_growth
    from ..bench.terminal import growth_heads, growth_row

    choose(names)
    if as_json:
        emit_json(run_growth(names, repeat=repeat))
        return
    width = line_width()
    emit(growth_heads(width))
    run_growth(names, repeat=repeat, report=lambda r: emit(growth_row(r, width)))
