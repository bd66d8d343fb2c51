"""Animation of a network: a page that shows a live simulation (`serve`), or replays a recording offline (`save`)."""

from __future__ import annotations

from .recording import Recording, record, save
from .server import serve

__all__ = ["Recording", "record", "save", "serve"]
