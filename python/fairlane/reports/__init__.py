"""Reports: an HTML page of a result or study, or a comparison of several."""

from .build import Report, report

__all__ = ["Report", "report"]
