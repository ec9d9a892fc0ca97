"""Recorded runs as editors see them: what was, and the steps through it."""
