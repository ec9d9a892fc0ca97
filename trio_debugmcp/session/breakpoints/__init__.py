"""Breakpoints: what users want, what adapters have of it, and how their hits are judged."""
