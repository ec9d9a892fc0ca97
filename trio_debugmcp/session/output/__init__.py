"""The program's standard streams."""
