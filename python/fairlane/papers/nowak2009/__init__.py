"""The study nowak2009: `paper.py` defines it, the other modules are its parts."""

from .paper import Nowak2009

__all__ = ["Nowak2009"]
