"""Does the server work with the adapters that people have? Recorded sessions of 18 real ones, through the whole server.

Recordings are in tests/data/traces, see the README there; trace.py reads them, play.py acts as their user.
"""
