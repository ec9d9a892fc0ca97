"""Stops: examined before they are published, with their reasons and exceptions."""
