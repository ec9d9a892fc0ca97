"""The tools that start and end debug sessions, and what is checked before."""
