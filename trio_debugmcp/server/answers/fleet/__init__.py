"""What the tools answer about many processes: classes with counts, those that differ first."""
