"""Checks of what runs inside the program, on every interpreter: plain functions and asserts, in the Python of 3.8.

Run by `python -m tests.probe.checks values`, and on each interpreter by test_inside.py.
"""
