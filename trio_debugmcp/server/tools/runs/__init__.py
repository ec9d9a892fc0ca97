"""The tools about recorded runs: what happened, why, and where two part."""
