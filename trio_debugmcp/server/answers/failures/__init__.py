"""What the tools answer about exceptions: what was raised, with what is behind it, and who catches it."""
