"""Recordings of `fairlane run`: captures, events, and the delays of calls for its page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click


def calls(resolved: Any, seeds: int) -> Any:
    """Returns the events that the page needs for the delays of calls."""
    from ..runs.delay_charts import recording

    return recording(json.loads(resolved.json(expanded=False)), seeds)


@contextmanager
def capture(names: tuple[str, ...], out: str | None, settings: dict[str, Any]) -> Iterator[tuple[Any, Path | None]]:
    """Yields the captures, and the folder that holds their files until they move into `out`."""
    if not names:
        given = [
            option for option, value in zip(("--snaplen", "--pcap-queue"), (settings["snaplen"], settings["queue"]), strict=True) if value
        ]
        if given:
            raise click.UsageError(f"{given[0]} needs --pcap NAME")
        yield None, None
        return
    from ..base.files import staging
    from ..runs.pcap import Pcap

    if out is None:
        yield Pcap(names, **settings), None
        return
    for name in names:
        file = Path(name.partition("=")[2])
        if not file.is_absolute() and file.name != str(file) and file.name:
            raise click.UsageError(f"--pcap {name}: with --out the file goes into {out}: write {name.partition('=')[0]}={file.name}")
    with staging(out) as stage:
        yield Pcap(names, stage, **settings), stage


@contextmanager
def recorded(words: str | None, out: str | None, form: str, *, force: bool) -> Iterator[Any]:
    """Yields the event filter, with the folder that holds the files until they move into `out`."""
    if words is None:
        if form != "parquet":
            raise click.UsageError("--trace-format needs --trace")
        yield None
        return
    if out is None:
        raise click.UsageError("--trace needs --out DIR: events are stored in the result folder")
    from ..runs.trace import parse_filter, recording_folder

    parse_filter(words, format=form).arguments(Path())
    with recording_folder(out, force=force) as place:
        yield parse_filter(words, place, form)


def write_logs(result: Any, out: str | None, *, force: bool) -> None:
    """Writes the logs of transport stacks, with the seed in the name if there are several runs."""
    from ..base.files import save_bytes

    several = len({seed for seed, _ in result.logs}) > 1
    for (seed, name), text in result.logs.items():
        save_bytes(Path(out or "") / f"{name}{f'.{seed}' if several else ''}.sqlog", text, new=not force)


def write_keys(result: Any, keylog: str | None, out: str | None, *, force: bool) -> None:
    """Writes the key log of the captures."""
    if keylog is None:
        return
    from ..base.files import save_bytes
    from ..runs.key_log import key_log

    save_bytes(Path(out or "") / keylog, key_log(result.captures).encode(), new=not force)
