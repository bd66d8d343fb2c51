"""Shared parts of pages and figures: colours, charts, templates."""
