"""The study yang2001: `paper.py` defines it, the other modules are its parts."""

from .paper import Yang2001

__all__ = ["Yang2001"]
