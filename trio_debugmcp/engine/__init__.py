"""The engine: a debugger of our own for programs on Python 3.12 and newer."""
