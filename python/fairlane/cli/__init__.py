"""The command line `fairlane`.

Every failure is one message on stderr, nothing on stdout and exit code 2 (1 if code of the user's failed in a run, or a packet script);
Ctrl-C is 130; a closed pipe is silent.
"""

from __future__ import annotations

import os
import sys

FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130
BROKEN_PIPE = 141


def main(argv: list[str] | None = None) -> None:
    """Entry point of the `fairlane` command."""
    sys.exit(invoke(argv))


def invoke(argv: list[str] | None = None) -> int:
    """Runs a command line and returns its exit code."""
    try:
        return _invoke(argv)
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # What is still buffered has nowhere to go: keep the interpreter from trying again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE


def _invoke(argv: list[str] | None) -> int:
    import click

    from ..errors import FairlaneError, PluginError
    from .commands import cli

    try:
        if "_FAIRLANE_COMPLETE" in os.environ:  # the shell asks for completions
            cli.main(argv, prog_name="fairlane")
        # Not `cli.main`: it has its own words for Ctrl-C and closed pipes.
        with cli.make_context("fairlane", list(sys.argv[1:] if argv is None else argv)) as context:
            code = cli.invoke(context)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as e:
        return e.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as e:
        where = f" (see {e.ctx.command_path} --help)" if isinstance(e, click.UsageError) and e.ctx is not None else ""
        say(e.format_message().rstrip(".") + where)
        return BAD_INPUT
    except PluginError as e:
        say(str(e))
        return FAILED
    except FairlaneError as e:
        say(str(e))
        return BAD_INPUT
    except BrokenPipeError:
        raise
    except ImportError as e:
        say(str(e))
        return BAD_INPUT
    except MemoryError:
        say("out of memory: use fewer --threads, a coarser sample or fewer flows")
        return BAD_INPUT
    except OSError as e:
        from ..base.files import reason

        say(f"{e.filename}: {reason(e)}" if e.filename else f"cannot write: {reason(e)}")
        return BAD_INPUT


def say(message: str) -> None:
    """One message on stderr, led by the word error unless it is a note or a rendered diagnosis already."""
    lead = "" if message.startswith(("error", "interrupted")) else "error: "
    try:
        sys.stderr.write(f"{lead}{message.rstrip()}\n")
        sys.stderr.flush()
    except OSError:
        pass
