"""Adds up what is in a shop, reads a line, and exits with 7; with `crash` it crashes after the loop, with `sleep` it sleeps."""

import sys
import time


class Item:
    def __init__(self, name, price):
        self.name = name
        self.price = price


def add(total, item):
    sum = total + item.price  # add
    return sum  # return


def main():
    items = [Item("pear", 2), Item("fig", 3), Item("kiwi", 4)]
    total = 0
    for i in range(3):
        total = add(total, items[i])  # loop
        print("item", i, total, flush=True)  # print
    if sys.argv[1:] == ["sleep"]:
        time.sleep(60)
    if len(sys.argv) > 1:
        raise ValueError("bad plum")  # crash
    line = sys.stdin.readline()  # read
    if not line:
        sys.exit(1)
    sys.stderr.write(f"read {line}")
    sys.exit(7)


main()
