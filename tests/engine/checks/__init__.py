"""Checks of what runs inside the program, on each interpreter with `sys.monitoring`: plain functions and asserts.

Run by `python -m tests.engine.checks NAME ...`, and on each interpreter by test_catching.py.
"""
