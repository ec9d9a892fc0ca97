"""Harvest figures per row of trees."""
from itertools import groupby

TREES = [
    ("r1", "apple", 41), ("r1", "apple", 38), ("r1", "pear", 0),
    ("r2", "pear", 27), ("r2", "pear", 33),
    ("r3", "apple", 52), ("r3", "plum", 18), ("r3", "plum", 0),
]
VERBOSE = True


def bearing(trees):
    return (tree for tree in trees if tree[2] > 0)  # CAUSE


def trace(what, trees):
    if VERBOSE:
        print(f"[{what}]", ", ".join(f"{row}/{kind}" for row, kind, _ in trees))  # CAUSE


def per_row(trees):
    result = {}
    for row, group in groupby(trees, key=lambda tree: tree[0]):
        result[row] = sum(kilos for _, _, kilos in group)
    return result


def kinds(trees):
    return sorted({kind for _, kind, _ in trees})


def crates(kilos, size=20):
    full, rest = divmod(kilos, size)
    return full + (1 if rest else 0)


def plan(trees):
    counted = bearing(trees)
    trace("bearing", counted)
    rows = per_row(counted)
    return {row: crates(kilos) for row, kilos in rows.items()}


print("kinds:", kinds(TREES))
needed = plan(TREES)
wagons = -(-sum(needed.values()) // 5)
print("crates:", needed, "wagons:", wagons)
assert crates(79) == 4
assert wagons == 3, "not enough wagons ordered"
