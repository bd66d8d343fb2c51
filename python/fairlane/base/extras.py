"""What only some installations have."""

from __future__ import annotations

from ..errors import FairlaneError


def need(module: str, extra: str) -> None:
    """Raises an error that names the extra to install, if a module is missing."""
    from importlib.util import find_spec

    if find_spec(module) is None:
        raise FairlaneError(f"{module} is not installed: pip install 'fairlane[{extra}]'")
