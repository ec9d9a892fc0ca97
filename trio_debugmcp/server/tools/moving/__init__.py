"""The tools that move a program, and those that observe it on its way."""
