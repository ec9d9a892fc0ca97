"""Breakpoints that editors set, on lines, functions, exceptions and data, and whose they are."""
