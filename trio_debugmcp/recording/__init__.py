"""Recordings of debug sessions and their replay without a debugger, and scenarios. The server knows nothing of it."""
