"""Rank the players of each league by points."""

from collections import defaultdict

RESULTS = [
    ("north", "ida", 12),
    ("north", "max", 17),
    ("south", "lea", 9),
    ("north", "tom", 12),
    ("south", "kim", 14),
    ("north", "eva", 20),
]


def merge(left, right):
    merged = []
    while left and right:
        side = left if left[0][1] >= right[0][1] else right
        merged.append(side.pop(0))
    return merged + left + right


def ranked(rows):
    if len(rows) == 1:  # CAUSE
        return list(rows)
    half = len(rows) // 2
    return merge(ranked(rows[:half]), ranked(rows[half:]))


def leagues(results, names):
    table = defaultdict(list)
    for league, player, points in results:
        table[league].append((player, points))
    return {name: table[name] for name in names}


def top(rows):
    return rows[0][0] if rows else "nobody"


tables = {}
for league, rows in leagues(RESULTS, ["north", "south", "west"]).items():
    tables[league] = ranked(rows)
    print(league, top(tables[league]))
