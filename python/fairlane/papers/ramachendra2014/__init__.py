"""The study ramachendra2014: `paper.py` defines it, the other modules are its parts."""

from .paper import Ramachendra2014

__all__ = ["Ramachendra2014"]
