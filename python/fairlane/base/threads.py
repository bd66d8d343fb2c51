"""Threads that call code of others, which may not come back by itself."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType

PULSE = 0.05
"""Seconds between two attempts to end what runs."""
PATIENCE = 0.7
"""Seconds after which code of C that does not come back is left to itself."""


def interrupt(threads: set[int]) -> None:
    """Raises KeyboardInterrupt in the code of plug-ins that runs on these threads at this moment."""
    from .. import _core

    _core.interrupt(list(threads))


class Halt(threading.Event):
    """Ends the runs of several threads: set, it makes them end at once, unfinished."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: set[int] = set()
        """Threads that are at work."""

    @contextlib.contextmanager
    def at_work(self) -> Iterator[int]:
        """The calling thread runs something that is to end with the others; its number."""
        own = threading.get_ident()
        self.threads.add(own)
        try:
            yield own
        finally:
            self.threads.discard(own)

    def end(self, patience: float | None = None) -> bool:
        """Ends all runs, and waits until they are over, or for so many seconds. Returns True if they are."""
        self.set()
        began = time.monotonic()
        while self.threads:
            if patience is not None and time.monotonic() - began > patience:
                return False
            interrupt(set(self.threads))
            time.sleep(PULSE)
        return True


class Pool(ThreadPoolExecutor):
    """Threads that end with an error of whoever waits for them (Ctrl-C), even in the code of a plug-in."""

    def __init__(self, n: int, name: str = "") -> None:
        self._crew: list[threading.Thread] = []
        super().__init__(n, name, initializer=lambda: self._crew.append(threading.current_thread()))

    def stop(self) -> None:
        """Ends what runs, and waits until all threads are gone; what has not begun never does."""
        self.shutdown(wait=False, cancel_futures=True)
        while left := {t.ident for t in self._crew if t.ident is not None and t.is_alive()}:
            interrupt(left)
            time.sleep(PULSE)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool | None:
        if error is not None:
            self.stop()
        return super().__exit__(kind, error, trace)


@contextlib.contextmanager
def alarm(seconds: float, thread: int) -> Iterator[None]:
    """Interrupts the code of plug-ins on a thread after so many seconds, again and again until what this surrounds is over."""
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
