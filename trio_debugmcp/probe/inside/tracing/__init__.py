"""The trace of a function's calls, line by line."""
