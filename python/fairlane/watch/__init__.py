"""A network that moves: a page that runs a simulation and shows it (`serve`), or replays a stretch of one offline (`save`)."""

from __future__ import annotations

from .recording import Film, film, save
from .server import serve

__all__ = ["Film", "film", "save", "serve"]
