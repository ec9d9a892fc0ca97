"""Threads and tasks: where each is, and what it waits for."""
