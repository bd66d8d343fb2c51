"""Modules that are run as commands: `python -m fairlane.papers.search`."""

from __future__ import annotations

import sys
from collections.abc import Callable

from ..errors import FairlaneError
from .encodings import encodable


def run_as_command(main: Callable[[], object]) -> None:
    """Runs the main function of a module. A mistake in the input is one message and exit code 2, Ctrl-C is exit code 130."""
    try:
        main()
    except FairlaneError as e:
        sys.stderr.write(encodable(f"error: {e}\n", sys.stderr.encoding))
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
