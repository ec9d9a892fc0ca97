# ask: totals["Porto"]
"""Totals per town of a salesman's travel expenses."""
from itertools import groupby
from operator import itemgetter

TRIPS = """\
03-04|Porto|train|41
03-05|Porto|hotel|96
03-06|Braga|bus|12
03-06|Braga|lunch|18
03-11|Faro|flight|130
03-12|Faro|hotel|88
03-13|Faro|taxi|23
03-19|Porto|train|41
03-19|Porto|lunch|22
03-25|Evora|car|64
03-26|Evora|hotel|71
"""
DAILY_LIMIT = 100


def parse(text):
    for line in text.splitlines():
        day, town, kind, euros = line.split("|")
        yield day, town, kind, int(euros)


def per_town(rows):
    sums = {}
    for town, group in groupby(rows, key=itemgetter(1)):  # CAUSE
        sums[town] = sum(euros for *_, euros in group)
    return sums


def per_kind(rows):
    sums = {}
    for _, _, kind, euros in rows:
        sums[kind] = sums.get(kind, 0) + euros
    return sums


def heavy_days(rows):
    spent = {}
    for day, *_, euros in rows:
        spent[day] = spent.get(day, 0) + euros
    return [day for day, euros in spent.items() if euros > DAILY_LIMIT]


def table(sums):
    width = max(map(len, sums))
    return [f"{name:<{width}} {euros:>5}" for name, euros in sorted(sums.items())]


rows = list(parse(TRIPS))
totals = per_town(rows)
kinds = per_kind(rows)
print("\n".join(table(totals)))
print("\n".join(table(kinds)))
print("heavy:", *heavy_days(rows))
