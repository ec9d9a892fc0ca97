"""Checks of what runs inside the program, on every interpreter: plain functions and asserts, in the Python of 3.8.

python -m tests.probe.checks values
"""
