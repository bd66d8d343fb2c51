"""Processes that work for another one, and end with it whatever ended it.

Imports little, so that a process that is starting is under watch before it imports what it works with, which takes a second.
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
"""Seconds that a process has to end its run when everything is to stop and its parent is still there."""
_PR_SET_PDEATHSIG = 1
"""prctl(2)"""

stop = Halt()
"""Set to make the runs of this process end at once, unfinished: in worker processes, where no event of the driver's reaches."""


def enlist(line: Connection) -> None:
    """What a worker process does first: it leaves Ctrl-C to its parent, and ends when that closes its end of the line, or is gone."""
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
    """Ends this process when what its parent holds of its standard input is closed."""

    def read() -> None:
        with contextlib.suppress(OSError):
            while os.read(0, 4096):
                pass
        os._exit(1)

    threading.Thread(target=read, daemon=True).start()


def _die_with(parent: int | None) -> None:
    """Asks Linux to kill this process when the thread that started it ends: code that never lets go of Python's lock goes, too."""
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if parent is not None and os.getppid() != parent:  # it was gone before we asked
        os._exit(0)
