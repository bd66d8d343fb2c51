"""Scenarios from descriptions of networks by other programs: `fairlane import tc FILE`."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..base.files import read_input, save_bytes
from ..errors import FairlaneError, FolderError
from ..formats.readers import DESCRIPTIONS
from .output import emit, emit_document, emit_json

if TYPE_CHECKING:
    from ..linux import Imported

MOST_INPUT = 64 << 20


def described(words: tuple[str, ...]) -> tuple[str, list[str]]:
    """Returns the kind of a description, empty for a recording, and the names of its files."""
    if words[0] in DESCRIPTIONS and (len(words) == 2 or (len(words) > 2 and DESCRIPTIONS[words[0]].several is not None)):
        return words[0], list(words[1:])
    if len(words) == 1 and (words[0] not in DESCRIPTIONS or os.path.lexists(words[0])):
        ending = Path(words[0]).suffix.lower()
        return next((d.kind for d in DESCRIPTIONS.values() if ending in d.endings), ""), [words[0]]
    if len(words) == 1:
        raise click.UsageError(f"Missing argument 'FILE': fairlane import {words[0]} FILE")
    raise click.UsageError(f"Unexpected argument {words[-1]!r}: expected FILE, or one of {', '.join(DESCRIPTIONS)} and FILE")


def read_description(kind: str, names: list[str], rate: str | None = None, joins: tuple[str, ...] = ()) -> Imported:
    """Returns the scenario of a file, or of standard input (`-`), or of several files, with notes on what is not modelled."""
    if rate is not None:
        _check_rate(rate)
    options = {} if rate is None else {"rate": rate}
    d = DESCRIPTIONS[kind]
    if len(names) == 1:
        if joins:
            raise FairlaneError("--join is for several files\n  = help: write fairlane import tc home.sh net.sh --join home:eth0=net:eth1")
        return d.reader()(_text(names[0]), _shown(names[0]), **options)
    if d.several is None:
        raise FairlaneError(f"{kind} has one file")
    return d.several()([(_text(n), _shown(n)) for n in names], joins=joins, **options)


def _shown(name: str) -> str:
    return "<stdin>" if name == "-" else name


def _text(name: str) -> str:
    from ..base.scenario import check_text

    data = sys.stdin.buffer.read(MOST_INPUT) if name == "-" else read_input(name)
    shown = _shown(name)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        line = data[: e.start].count(b"\n") + 1
        raise FairlaneError(f"cannot read {shown}: line {line} is not UTF-8, so it is not a text file") from None
    check_text(text, shown)
    return text


def scenario_from(
    kind: str, names: list[str], out: str | None, *, rate: str | None, joins: tuple[str, ...], as_json: bool, quiet: bool, force: bool
) -> None:
    """Reads a description, checks the scenario, and prints or writes it with its notes."""
    from .. import _core
    from ..base import toml

    made = read_description(kind, names, rate, joins)
    written = toml.dumps(made.tree)
    _core.resolve(written, out or f"the scenario of {', '.join(names)}", "toml", [])
    if as_json:
        return emit_json({"schema": "fairlane.import/1", "fairlane": _core.version(), "scenario": made.tree, "notes": made.notes})
    notes = [f"note: {n}" for n in made.notes]
    if out is None:
        return emit_document("\n".join([*(f"# {n}" for n in notes), written]), "toml")
    path = Path(out)
    if os.path.lexists(path) and not force:
        raise FolderError(f"{out} exists and was not changed: choose another name, or --force")
    save_bytes(path, written.encode("utf-8"), new=not force)
    if not quiet:
        emit("\n".join([f"wrote {path}", *notes, "", f"  fairlane run {shlex.quote(str(path))}"]))
    return None


def _check_rate(rate: str) -> None:
    from .. import _core

    try:
        _core.quantity("rate", rate)
    except ValueError as e:
        raise FairlaneError(f"--rate: {e}\n  = help: write for instance 100Mbit/s") from None
