"""The command line `fairlane`.

A failure prints one message to stderr, nothing to stdout, and exits with 2 (1 if a plug-in failed during a run, or a packet script);
Ctrl-C exits with 130; a closed pipe is silent.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings

FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130
BROKEN_PIPE = 141
LONGEST_LINE = 4000
"""Characters of a line of an error; quoted text may be of any length."""


def main(argv: list[str] | None = None) -> None:
    """Entry point of the `fairlane` command."""
    # Products of small matrices take several times the processor time on several threads, which wait for one another without sleeping.
    for library in ("OPENBLAS", "OMP", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    code = invoke(argv)
    if code == INTERRUPTED:
        _leave(code)
    sys.exit(code)


def _leave(code: int) -> None:
    """Ends the program even if a plug-in in C does not return: Python would wait for its thread."""
    import threading

    if any(t is not threading.current_thread() and not t.daemon for t in threading.enumerate()):
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


def invoke(argv: list[str] | None = None) -> int:
    """Runs a command line and returns its exit code."""
    from ..base.encodings import use_plain_signs
    from ..errors import ScenarioWarning

    use_plain_signs()
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ScenarioWarning)  # the commands print them
            return _version() if arguments == ["--version"] else _invoke(arguments)
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # Buffered output has nowhere to go: keep the interpreter from writing it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except ImportError as e:
        from ..base.extras import extra_of, installing

        extra = extra_of(e.name)
        say(str(e) if extra is None else f"{e.name} is not installed: {installing(f'fairlane[{extra}]')}")
        return BAD_INPUT
    except UnicodeEncodeError as e:  # a surrogate, or a byte that is not UTF-8, in an argument
        say(f"cannot use {e.object[max(0, e.start - 20) : e.end + 20]!r}: it is not UTF-8 text")
        return BAD_INPUT
    except MemoryError:
        say("out of memory: use fewer --threads, a coarser sample or fewer flows")
        return BAD_INPUT
    except OSError as e:
        from ..base.files import reason

        say(f"{e.filename}: {reason(e)}" if e.filename else f"cannot write: {reason(e)}")
        return BAD_INPUT


def _version() -> int:
    """Prints the version without loading the commands."""
    from .. import _core

    sys.stdout.write(f"fairlane {_core.version()}\n")
    sys.stdout.flush()
    return 0


def _invoke(arguments: list[str]) -> int:
    import click

    from ..errors import FairlaneError, PluginError
    from .commands import cli

    try:
        if "_FAIRLANE_COMPLETE" in os.environ:  # the shell asks for completions
            cli.main(arguments, prog_name="fairlane")
        if arguments[:1] == ["help"]:
            arguments = [*arguments[1:], "--help"]
        # Not `cli.main`: it has its own messages for Ctrl-C and closed pipes.
        with cli.make_context("fairlane", list(arguments)) as context:
            code = cli.invoke(context)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.exceptions.NoArgsIsHelpError as e:  # a group of commands by itself, such as `fairlane new`
        sys.stdout.write(e.format_message() + "\n")
        sys.stdout.flush()
        return 0
    except click.exceptions.Exit as e:
        return e.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as e:
        where = f" (see {e.ctx.command_path} --help)" if isinstance(e, click.UsageError) and e.ctx is not None else ""
        from .usage import message

        say((message(e, arguments, cli) if isinstance(e, click.UsageError) else e.format_message().rstrip(".")) + where)
        return BAD_INPUT
    except PluginError as e:
        say(str(e))
        return FAILED
    except FairlaneError as e:
        say(with_options(str(e)))
        return BAD_INPUT


_OPTIONS = {
    "force=True": "--force",
    "seed=N and seeds=...": "--seed and --seeds",
    'link="NAME"': "--link NAME",
    'cluster="tcp://HOST:PORT"': "--cluster tcp://HOST:PORT",
}
"""Arguments that errors of the library name, and the options of the command line that they stand for."""


def with_options(message: str) -> str:
    """Returns an error of the library with options instead of Python arguments."""
    for python, option in _OPTIONS.items():
        message = message.replace(python, option)
    return message


def say(message: str) -> None:
    """Prints one message to stderr, preceded by "error:" unless it has its own lead."""
    from ..base.escapes import printable

    lead = "" if message.startswith(("error", "interrupted")) else "error: "
    lines = (line if len(line) <= LONGEST_LINE else f"{line[:1000]} ... {line[-200:]}" for line in message.rstrip().split("\n"))
    try:
        sys.stderr.write(lead + printable("\n".join(lines)) + "\n")
        sys.stderr.flush()
    except OSError:
        pass
