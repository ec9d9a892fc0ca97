"""Recordings of debug sessions: their format, and the recorder that writes one while the server runs."""
