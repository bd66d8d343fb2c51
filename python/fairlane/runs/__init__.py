"""Runs of a scenario: the network, its replications, and what came of them."""
