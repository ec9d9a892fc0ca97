"""Values: as text, as trees, as digests, and how they are set."""
