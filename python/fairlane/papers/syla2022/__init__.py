"""The study syla2022: `paper.py` defines it, the other modules are its parts."""

from .paper import Syla2022

__all__ = ["Syla2022"]
