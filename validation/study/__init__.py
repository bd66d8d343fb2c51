"""Drills of studies: stored runs after kills."""
