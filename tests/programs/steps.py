"""Calls, a loop, recursion: something to step through."""


def level3(value):
    tripled = value * 3
    return tripled


def level2(value):
    inner = level3(value)  # call level3
    return inner + 1


def level1(value):
    outer = level2(value)  # call level2
    return outer * 2  # after level2


def recurse(depth):
    here = depth
    if depth == 0:
        return here  # bottom
    return recurse(depth - 1) + 1


def loop():
    total = 0
    for i in range(5):
        total += i  # in loop
    return total


def main():
    first = level1(7)  # call level1
    second = recurse(12)
    third = loop()
    print("result", first, second, third)  # last


main()
