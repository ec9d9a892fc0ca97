"""Backward slices: what values, and runs of lines, depend on, and how an answer shows it."""
