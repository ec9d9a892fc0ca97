"""Runs for as long as it is let, changing a variable a hundred times a second."""

import time

turn = 0
while True:
    turn += 1  # in loop
    time.sleep(0.01)
