"""What is true about the debug sessions. Pure: no tasks, no I/O, no clock."""
