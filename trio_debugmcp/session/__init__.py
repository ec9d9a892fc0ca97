"""Trio tasks over the state: debug sessions, the merger that owns the state, and what users ask of them."""
