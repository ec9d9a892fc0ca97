"""Histories: how a value changed, when a line ran, what was called."""
