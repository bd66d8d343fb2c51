"""Errors in the words of a command line, with what to type instead."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import click

_EXAMPLES = {
    "run": "fairlane run home.toml",
    "top": "fairlane top home.toml",
    "watch": "fairlane watch home.toml",
    "draw": "fairlane draw home.toml -o network.svg",
    "tc": "fairlane tc home.toml line",
    "study": "fairlane study study.toml",
    "tune": "fairlane tune tune.toml",
    "report": "fairlane report results/home -o home.html",
    "verify": "fairlane verify results/home",
    "import": "fairlane import capture.pcapng -o capture",
    "paper": "fairlane new paper mine1999",
    "network": "fairlane new network backbone.graphml",
}
"""A use of each command that needs an argument."""
_VALUES = {
    **{key: key for key in ("duration", "warmup", "sample")},
    **{key: f"links.NAME.{key}" for key in ("rate", "delay", "loss", "queue")},
    "bandwidth": "links.NAME.rate",
    "limit": "links.NAME.queue.NAME.limit",
    **{key: f"flows.NAME.{key}" for key in ("tcp", "count", "start", "source")},
    "cc": "flows.NAME.tcp",
}
"""Values of a scenario that are given like options, by the path that --set takes."""


def message(error: click.UsageError, words: Sequence[str], cli: click.Group) -> str:
    """Returns the message of a usage error; `words` is the command line."""
    text = error.format_message().rstrip(".")
    command = error.ctx.command if error.ctx is not None else cli.commands.get(words[0]) if words and words[0] in cli.commands else None
    context = error.ctx or click.Context(cli)
    name = (command.name if command is not None else None) or ""
    if isinstance(error, click.MissingParameter) and error.param is not None and name in _EXAMPLES:
        return f"{name} needs {error.param.make_metavar(context).removesuffix('...')}, such as {_EXAMPLES[name]}"
    if isinstance(error, click.NoSuchOption):
        return _no_option(error.option_name, command, words, cli) or text
    if isinstance(error, click.BadOptionUsage) and command is not None and "requires an argument" in text:
        option = next((p for p in command.params if error.option_name in p.opts), None)
        return text if option is None else f"{text}: {error.option_name} {option.make_metavar(context)}"
    return _extra(text, name, words) if "unexpected extra argument" in text else text


def _no_option(option: str, command: click.Command | None, words: Sequence[str], cli: click.Group) -> str | None:
    """Returns the message for an option of another place; None if the name is unknown everywhere."""
    if command is cli:
        if option in ("-V", "-v"):
            return f"no option {option} here: fairlane --version"
        at = next((i for i, w in enumerate(words) if w in cli.commands), None)
        if at is not None:
            return f"options follow the command: fairlane {shlex.join([*words[at:], *words[:at]])}"
        file = next((w for w in words if w.endswith((".toml", ".json"))), None)
        return file and f"options follow the file: fairlane {shlex.join([file, *(w for w in words if w != file)])}"
    path = _VALUES.get(option.lstrip("-").replace("-", "_"))
    if command is None or path is None or not any("--set" in p.opts for p in command.params):
        return None
    value = words[words.index(option) + 1] if option in words[:-1] else "VALUE"
    return f"no option {option}: values of the scenario are changed with --set {path}={value}"


def _extra(text: str, name: str, words: Sequence[str]) -> str:
    """Returns the message for a word too many: a value after a blank, or a second file."""
    for i, word in enumerate(words[:-2]):
        if word in ("--set", "--vary") and "=" not in words[i + 1]:
            return f"{word} takes one word: write {word} {words[i + 1]}={words[i + 2]}"
    if name in ("run", "top", "watch", "draw", "study", "tune") and sum(w.endswith((".toml", ".json")) for w in words) > 1:
        return f"{name} takes one file: run the command for each"
    return text
