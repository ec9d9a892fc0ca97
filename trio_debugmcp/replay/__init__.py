"""Recordings served again without a debugger: recorded adapters, programs and clients in recorded time."""
