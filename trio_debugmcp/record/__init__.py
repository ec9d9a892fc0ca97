"""Recordings of debug sessions, and their replay without a debugger. Beside the server, which knows nothing of it."""
