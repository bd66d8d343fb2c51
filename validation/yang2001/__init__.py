"""Source-based control beside the paper it comes from (Yang and Fu 2001)."""
