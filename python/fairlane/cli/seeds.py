"""The options `--seeds` and `--seed` of every command that runs replications."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from ..base.seeds import parse_seeds


class _Seed(click.ParamType):  # type: ignore[type-arg]
    name = "seed"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Returns the seed; fails with what a seed is."""
        text = str(value).strip()
        if not (text.isascii() and text.isdigit() and int(text) < 2**64):
            self.fail(f"{text!r} is not a seed: a whole number from 0 to 2^64 - 1", param, ctx)
        return int(text)


SEED = _Seed()
"""The type of `--seed`."""
_HELP = "{what}: how many (10), or which (3..7 or 1,2,9){default}."


def seed_options(
    what: str = "Replications", default: str = "", *, single: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds `--seeds` and, if `single`, `--seed`; the command gets `seeds`: a list, or None if neither is given."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def run(*args: Any, seeds: str | None, **options: Any) -> Any:
            one = options.pop("seed", None) if single else None
            return command(*args, seeds=chosen(seeds, one), **options)

        if single:
            one = click.option("--seed", type=SEED, metavar="N", help="A single run with this seed, instead of --seeds.")
            run = one(run)
        words = _HELP.format(what=what, default=f" (default: {default})" if default else "")
        return click.option("--seeds", metavar="N|LIST", help=words)(run)

    return decorate


def chosen(seeds: str | None, seed: int | None) -> list[int] | None:
    """Returns the seeds that the options select; None without options."""
    if seeds is not None and seed is not None:
        raise click.UsageError(f"--seed {seed} and --seeds {seeds} exclude each other: give one of them")
    return [seed] if seed is not None else None if seeds is None else parse_seeds(seeds)
