"""Queues and congestion controls of the user's own."""
