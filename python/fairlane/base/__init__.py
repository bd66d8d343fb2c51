"""Basics that every package uses; they import no other package but errors."""
