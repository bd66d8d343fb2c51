"""The exceptions of fairlane: all derive from `FairlaneError`, and their text is one clear message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_LONGEST = 1000
"""Longest name in characters that is compared with known names."""


class FairlaneError(Exception):
    """Base of all errors that the caller can fix."""


class ArgumentError(FairlaneError, ValueError):
    """An argument that cannot be used, such as a wrong list of seeds."""


class MissingError(FairlaneError, ImportError):
    """A missing optional library; the message names the extra to install."""


class ScenarioError(FairlaneError):
    """A scenario that cannot be run.

    `diagnostics` lists the first twenty problems as dicts with `code` (docs/reference/diagnostics.md), `path`, `file`, `line`, `column`,
    `end_column`, `message` and `help`; `more` counts the others. `rendered`, also the text of the exception, shows them with their lines.
    """

    def __init__(self, rendered: str, diagnostics: Sequence[dict[str, Any]] = (), more: int = 0) -> None:
        super().__init__(rendered)
        self.rendered = rendered
        self.diagnostics = list(diagnostics)
        self.more = more


class ScenarioWarning(UserWarning):
    """A warning about a run, with its `code` for programs (docs/reference/diagnostics.md).

    >>> ScenarioWarning("the queue was never empty", "full-queue")
    ScenarioWarning('the queue was never empty', 'full-queue')
    """

    def __init__(self, text: str, code: str = "") -> None:
        super().__init__(text, code)
        self.code = code
        """Empty if only the text is stored, as in a result folder."""

    def __str__(self) -> str:
        return str(self.args[0])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScenarioWarning) and self.args == other.args

    def __hash__(self) -> int:
        return hash(self.args)


class RunError(FairlaneError):
    """A run that stopped: the scenario needs more than the machine or the simulated clock can hold."""


class PluginError(RunError):
    """A plug-in (queue or congestion control) failed during a run.

    The text contains the traceback; `time` is the simulated time in seconds.
    """

    def __init__(self, message: str, time: float = 0.0) -> None:
        super().__init__(message)
        self.time = time


class InputError(FairlaneError):
    """An input file that cannot be read: missing, too large, or a device or pipe instead of a file."""


class FolderError(FairlaneError):
    """A result folder or file that cannot be written or read."""


class PaperError(FairlaneError):
    """An error in the folder of a published study; the message states the place."""


class WorkerError(FairlaneError):
    """The workers of a study cannot start, or the cluster is lost. Finished runs are kept."""


class UnknownNameError(FairlaneError, KeyError):
    """An unknown name; the message suggests similar ones."""

    __str__ = Exception.__str__  # KeyError shows its text in quotes


def short(text: str, most: int = 80) -> str:
    """Returns a text in quotes, without its middle if it is long.

    >>> short("x" * 1000, 12), short("red")
    ("'xxxxx ... xxxxx' (1000 characters)", "'red'")
    """
    return repr(text) if len(text) <= most else f"{text[: most // 2 - 1] + ' ... ' + text[1 - most // 2 :]!r} ({len(text)} characters)"


def missing_attribute(module: str, name: str, known: Sequence[str]) -> AttributeError:
    """Returns the error for a name that a module lacks; other capitals and underscores are one step away.

    >>> str(missing_attribute("fairlane", "DropTail", ["queues.Droptail", "queues.Red"]))
    "module 'fairlane' has no attribute 'DropTail': did you mean 'queues.Droptail'?"
    """
    from difflib import get_close_matches

    plain = {k.rpartition(".")[2].lower().replace("_", ""): k for k in sorted(known)}
    word = name.lower().replace("_", "")
    near = [plain[word]] if word in plain else [plain[k] for k in get_close_matches(word, plain, n=1, cutoff=0.8)]
    return AttributeError(f"module {module!r} has no attribute {name!r}" + (f": did you mean {near[0]!r}?" if near else ""))


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
