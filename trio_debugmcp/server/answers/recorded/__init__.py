"""What the tools answer about recorded runs: why, histories, calls, moments, where two part."""
