"""The tools between people and agents."""
