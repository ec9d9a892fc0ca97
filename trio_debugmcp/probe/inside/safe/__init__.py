"""Expressions evaluated without running code of the program."""
