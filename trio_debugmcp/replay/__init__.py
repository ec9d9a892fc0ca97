"""Recordings served again without a debugger: recorded adapters, programs and clients on a recorded clock."""
