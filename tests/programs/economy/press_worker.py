"""Halves the size of a picture, given as `WIDTHxHEIGHT`."""

import sys


def half(size):
    width, height = map(int, size.split("x"))
    width, height = width // 2, width // 2
    return f"{width}x{height}"


print(half(sys.argv[1]))
