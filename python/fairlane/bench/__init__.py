"""How fast the engine is."""
