"""The kinds of rows, in the place that they have in a row's first word: see docs/recording-runs.md."""

LINE, START, RESUME, RETURN, YIELD, UNWIND, RAISE = [kind << 60 for kind in range(1, 8)]

WRITE, FIELD, SEEN, GAP, SIZE, SEEN_NAME = [kind << 60 for kind in range(8, 14)]

FIRST, WRITTEN, FOUND, UNWATCHED = 0, 1, 2, 3
"""Keys of a row SIZE."""

MOST_SAID = 20
"""Rows about the items of one container at a time."""
