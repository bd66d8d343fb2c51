"""The study sarma2013: `paper.py` defines it, the other modules are its parts."""

from .paper import Sarma2013

__all__ = ["Sarma2013"]
