"""The reference page of the command line, generated from the commands: `python -m fairlane.cli.manual > docs/reference/cli.md`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import cleandoc

import click

from .commands import cli


def page() -> str:
    """Returns docs/reference/cli.md."""
    root = click.Context(cli, info_name="fairlane", **cli.context_settings)
    every = list(_commands(cli, root))
    parts = [
        "# The command line",
        "<!-- Made by `python -m fairlane.cli.manual` from the commands in python/fairlane/cli: change those. -->",
        *_paragraphs(cli.help),
        _table("command", [(_usage(ctx), ctx.command.get_short_help_str(limit=1000)) for ctx in every]),
        *(part for ctx in every for part in _section(ctx)),
        "## All commands",
        *_paragraphs(cli.epilog),
    ]
    return "\n\n".join(parts) + "\n"


def _commands(group: click.Group, above: click.Context) -> Iterator[click.Context]:
    """Yields all commands of a group and of its subgroups, by name."""
    for name, command in sorted(group.commands.items()):
        ctx = click.Context(command, above, info_name=name)
        if isinstance(command, click.Group):
            yield from _commands(command, ctx)
        else:
            yield ctx


def _section(ctx: click.Context) -> list[str]:
    options = [p for p in ctx.command.get_params(ctx) if isinstance(p, click.Option) and "--help" not in p.opts]
    rows = [record for p in options if (record := p.get_help_record(ctx)) is not None]
    name = ctx.command_path.removeprefix("fairlane ")
    return [f"## `{name}`", f"`{_usage(ctx)}`", *_paragraphs(ctx.command.help), *([_table("option", rows)] if rows else [])]


def _usage(ctx: click.Context) -> str:
    """Returns the command with its arguments."""
    return " ".join([ctx.command_path, *(piece for piece in ctx.command.collect_usage_pieces(ctx) if piece != "[OPTIONS]")])


def _table(what: str, rows: list[tuple[str, str]]) -> str:
    lines = (f"| `{_cell(first)}` | {_cell(_linked(second))} |" for first, second in rows)
    return "\n".join([f"| {what} | description |", "|---|---|", *lines])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")


def _paragraphs(text: str | None) -> list[str]:
    """Returns the paragraphs of a help text; one that must not be wrapped (click's backspace) becomes a code block."""
    parts = cleandoc(text or "").split("\n\n")
    return [f"```text\n{p.removeprefix(chr(8)).strip(chr(10))}\n```" if p.startswith("\b") else _linked(" ".join(p.split())) for p in parts]


def _linked(text: str) -> str:
    """Turns page names in a help text into links."""
    return re.sub(r"docs/([\w/-]+\.md)", lambda m: f"[{m[0]}]({_from_here(m[1])})", text)


def _from_here(page: str) -> str:
    return page.removeprefix("reference/") if page.startswith("reference/") else f"../{page}"


if __name__ == "__main__":
    import sys

    sys.stdout.write(page())
