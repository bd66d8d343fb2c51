"""Plug-ins: user-defined queues and congestion controls."""
