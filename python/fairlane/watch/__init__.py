"""A network that moves: a page that runs a simulation and shows it (`serve`), or replays a stretch of one offline (`save`)."""

from __future__ import annotations

from .recording import Recording, record, save
from .server import serve

__all__ = ["Recording", "record", "save", "serve"]
