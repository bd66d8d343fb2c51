"""Mistakes in the code of a study: one message with the place, instead of a traceback through ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import walk_tb

from ..errors import FairlaneError, InputError, PaperError
from ..multiverse import OpenError


@contextmanager
def study_errors(folder: Path) -> Iterator[None]:
    """Turns an error in the code of the study in `folder` into a `PaperError` that names the line; the cause keeps the traceback."""
    try:
        yield
    except (InputError, OpenError, PaperError) as e:
        where = _place(e, folder)
        if where is None or (isinstance(e, PaperError) and str(e).startswith(str(folder))):
            raise
        raise PaperError(f"{where}: {e}") from e
    except (FairlaneError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as e:
        where = _place(e, folder)
        if where is None and isinstance(e, OSError):
            raise  # a full disk is no mistake of the study
        # `LookupError` itself is what we raise for names that a study asks for in vain: its text says all.
        plain = e.msg if isinstance(e, SyntaxError) else str(e) if type(e) is LookupError else ""
        words = plain or f"{type(e).__name__}: {e}".rstrip(": ")
        if where is None:  # it came to light in our code: of a value that the study's code gave
            raise PaperError(f"{folder}: what its code gives cannot be used: {words}") from e
        raise PaperError(f"{where}: {words}") from e


def _place(e: BaseException, folder: Path) -> str | None:
    """File and line of the last step that was taken in the folder; `None` if there was none."""
    frames = [(frame.f_code.co_filename, line) for frame, line in walk_tb(e.__traceback__)]
    if isinstance(e, SyntaxError) and e.filename:
        frames.append((e.filename, e.lineno or 1))
    for name, line in reversed(frames):
        file = Path(name)
        if file.is_relative_to(folder.resolve()):
            return f"{folder / file.relative_to(folder.resolve())}:{line}"
    return None
