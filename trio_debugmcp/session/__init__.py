"""Trio tasks over the state: sessions with debug adapters, the merger that owns the state, and what users ask of them."""
