"""The code of the studies that come with fairlane, as modules: they are plug-ins, so nothing else imports them."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from fairlane import papers


def module(key: str, name: str) -> ModuleType:
    """A module of a study's code."""
    package = type(papers.load(key)).__module__.rpartition(".")[0]
    return import_module(f"{package}.{name}")
