"""The commands `new ...`: skeletons of what a user writes himself."""

from __future__ import annotations

import click

from .output import Commands, emit


@click.group(cls=Commands)
def new() -> None:
    """Write the beginning of something of your own: it runs as it is."""


@new.command()
@click.argument("key")
def paper(key: str) -> None:
    """The folder KEY with the study of a paper, to be run by `fairlane reproduce KEY`; see docs/guides/own-paper.md."""
    from ..papers.new import new_paper

    folder = new_paper(key)
    emit("\n".join([*(str(p) for p in sorted(folder.iterdir())), f"\nfairlane reproduce {key} --quick"]))
