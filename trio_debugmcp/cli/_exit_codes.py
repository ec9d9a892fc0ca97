"""Exit codes of the commands that ask a server: `inspect`, `watch`, `shell` and `call`."""

DONE, FAILED, USAGE, NOT_AUTHORIZED, UNREACHABLE, NOT_FOUND = 0, 1, 2, 3, 4, 5
"""Ok; unexpected; wrong usage; not authorised; unreachable or connection lost; a tool's error or not found."""

INTERRUPTED = 130
"""What a shell reports for a command that Ctrl-C ended."""
