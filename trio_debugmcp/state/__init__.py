"""The state of the debug sessions and breakpoints, and how it changes. Pure: no tasks, no I/O, no clock."""
