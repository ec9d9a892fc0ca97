"""The tools about breakpoints: on lines, functions, exceptions, data and instructions."""
