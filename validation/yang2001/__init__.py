"""Source-based control compared with its paper (Yang and Fu 2001)."""
