"""Drills of studies: what is kept when they are killed."""
