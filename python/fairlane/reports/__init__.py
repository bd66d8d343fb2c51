"""Reports: one page for any result or study, and for several what sets them apart."""

from .build import Report, report

__all__ = ["Report", "report"]
