"""Recorded runs of programs: read, searched and asked. Pure: no tasks, nothing is started."""
