"""The exceptions of fairlane: all derive from `FairlaneError`, and their text is one clear message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_LONGEST = 1000
"""Characters of a name that is compared with others."""


class FairlaneError(Exception):
    """Anything that went wrong for a reason the caller can act on."""


class ScenarioError(FairlaneError):
    """A scenario that cannot be run.

    `diagnostics` lists the problems found as dicts with `code` (docs/reference/diagnostics.md), `path`, `file`, `line`, `column`,
    `end_column`, `message` and `help`: the first twenty, and `more` says how many there are besides. `rendered`, also the text of the
    exception, shows them with the offending lines.
    """

    def __init__(self, rendered: str, diagnostics: Sequence[dict[str, Any]] = (), more: int = 0) -> None:
        super().__init__(rendered)
        self.rendered = rendered
        self.diagnostics = list(diagnostics)
        self.more = more


class ScenarioWarning(str):
    """A warning: its text, with the `code` by which programs know it (docs/reference/diagnostics.md)."""

    code: str
    """Empty where only the text was kept, as in a result folder."""

    def __new__(cls, text: str, code: str = "") -> ScenarioWarning:
        """A text with its code."""
        self = super().__new__(cls, text)
        self.code = code
        return self

    def __reduce__(self) -> tuple[type[ScenarioWarning], tuple[str, str]]:
        return ScenarioWarning, (str(self), self.code)


class RunError(FairlaneError):
    """A run that had to stop: the scenario asks for more than the machine or the clock can hold."""


class PluginError(RunError):
    """The code of a queue or congestion control of one's own failed during a run.

    The text has its traceback, `time` is the simulated time in seconds.
    """

    def __init__(self, message: str, time: float = 0.0) -> None:
        super().__init__(message)
        self.time = time


class InputError(FairlaneError):
    """A file that is to be read and cannot be: missing, too large, or no file but a device or a pipe."""


class FolderError(FairlaneError):
    """A result folder or file that cannot be written or read."""


class PaperError(FairlaneError):
    """A study of a published paper that cannot be reproduced: something in its folder is missing or wrong. The message says where."""


class CrewError(FairlaneError):
    """Nobody can run the cells of a study: workers that cannot start, a cluster that is gone. Finished cells are kept."""


class UnknownNameError(FairlaneError):
    """A name that nothing has; the message suggests near ones."""


def short(text: str, most: int = 80) -> str:
    """A text in quotes with its middle left out if it is long: what is quoted in an error may be of any length.

    >>> short("x" * 1000, 12), short("red")
    ("'xxxxx ... xxxxx' (1000 characters)", "'red'")
    """
    return repr(text) if len(text) <= most else f"{text[: most // 2 - 1] + ' ... ' + text[1 - most // 2 :]!r} ({len(text)} characters)"


def suggest(name: str, known: Sequence[str], what: str) -> UnknownNameError:
    """Returns an `UnknownNameError` for `name` that lists the nearest of the `known` names.

    >>> str(suggest("cubik", ["cubic", "reno"], "congestion control"))
    "unknown congestion control 'cubik': did you mean 'cubic'?"
    """
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), sorted(set(known)), n=3, cutoff=0.6) if len(name) <= _LONGEST else []
    if near:
        hint = "did you mean " + " or ".join(repr(n) for n in near) + "?"
    elif len(known) <= 40:
        hint = "known are " + ", ".join(sorted(set(known)))
    else:
        hint = f"not found among {len(set(known))} names"
    return UnknownNameError(f"unknown {what} {short(name)}: {hint}")
