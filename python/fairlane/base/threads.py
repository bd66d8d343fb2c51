"""Threads that call plug-ins, which may not return."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType

PULSE = 0.05
"""Seconds between two attempts to end the runs."""
PATIENCE = 0.7
"""Seconds after which C code that does not return is abandoned."""


def interrupt(threads: set[int]) -> None:
    """Raises KeyboardInterrupt in the plug-ins running on these threads."""
    from .. import _core

    _core.interrupt(list(threads))


class Halt(threading.Event):
    """Flag that ends the runs of several threads early."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: set[int] = set()
        """Running threads."""

    @contextlib.contextmanager
    def at_work(self) -> Iterator[int]:
        """Registers the calling thread while it works; yields its number."""
        own = threading.get_ident()
        self.threads.add(own)
        try:
            yield own
        finally:
            self.threads.discard(own)

    def end(self, patience: float | None = None) -> bool:
        """Ends all runs and waits for them at most this many seconds; returns true if all ended."""
        self.set()
        began = time.monotonic()
        while self.threads:
            if patience is not None and time.monotonic() - began > patience:
                return False
            interrupt(set(self.threads))
            time.sleep(PULSE)
        return True


class Pool(ThreadPoolExecutor):
    """Threads that end when the waiting thread fails (Ctrl-C), even inside a plug-in."""

    def __init__(self, n: int, name: str = "") -> None:
        self._started: list[threading.Thread] = []
        super().__init__(n, name, initializer=lambda: self._started.append(threading.current_thread()))

    def stop(self) -> None:
        """Ends running tasks, cancels the others, and waits for all threads."""
        self.shutdown(wait=False, cancel_futures=True)
        while left := {t.ident for t in self._started if t.ident is not None and t.is_alive()}:
            interrupt(left)
            time.sleep(PULSE)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool | None:
        if error is not None:
            self.stop()
        return super().__exit__(kind, error, trace)


@contextlib.contextmanager
def alarm(seconds: float, thread: int) -> Iterator[None]:
    """Interrupts plug-ins on a thread after this many seconds, repeatedly until the block ends."""
    over = threading.Event()

    def wait() -> None:
        pause = seconds
        while not over.wait(pause):
            interrupt({thread})
            pause = PULSE

    waiting = threading.Thread(target=wait, daemon=True, name="cell-limit")
    waiting.start()
    try:
        yield
    finally:
        over.set()
        waiting.join()
