"""Asks, answers, and says goodbye at the end of its input."""

import sys

name = input("name? ")
print("hello", name)
for line in sys.stdin:
    print("heard", line.strip())
print("bye", file=sys.stderr)
sys.exit(3)
