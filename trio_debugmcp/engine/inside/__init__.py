"""What runs in the debugged program. Each module imports only its siblings, the probe, and modules written in C."""
