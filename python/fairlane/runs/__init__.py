"""Runs of a scenario: networks, replications and results."""
