"""Display of results in notebooks."""

from __future__ import annotations

from html import escape


class NotebookSentence:
    """Base of results that a notebook shows as a sentence."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"
