"""Worker processes that end with their parent, however it ended.

This module imports little, so that a starting process watches its parent before its slow imports.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for

from .threads import Halt

GRACE = 0.3
"""Seconds that a worker has to end its run after a request to stop."""
_PR_SET_PDEATHSIG = 1
"""prctl(2)"""

stop = Halt()
"""Flag that ends the runs of this worker process early."""


def enlist(line: Connection) -> None:
    """Initialises a worker process: ignores Ctrl-C, and ends when the parent closes the pipe or dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    threading.Thread(target=_obey, args=(line,), daemon=True).start()
    if parent is not None:
        _die_with(parent.pid)


def _obey(line: Connection) -> None:
    parent = multiprocessing.parent_process()
    wait_for([line] if parent is None else [line, parent.sentinel])
    stop.set()
    if parent is None or os.getppid() == parent.pid:
        time.sleep(GRACE)
    os._exit(0)


def end_with_stdin() -> None:
    """Ends this process when the parent's end of standard input is closed."""

    def read() -> None:
        with contextlib.suppress(OSError):
            while os.read(0, 4096):
                pass
        os._exit(1)

    threading.Thread(target=read, daemon=True).start()


def _die_with(parent: int | None) -> None:
    """Asks Linux to kill this process when its parent thread ends, even in code that never releases the GIL."""
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if parent is not None and os.getppid() != parent:  # the parent died before the call
        os._exit(0)
