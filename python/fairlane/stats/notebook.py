"""What a result says of itself in a notebook."""

from __future__ import annotations

from html import escape


class NotebookSentence:
    """A result whose text is a sentence: a notebook shows that sentence."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"
