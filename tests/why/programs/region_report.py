"""Monthly sales report by region, with a ranking of the sellers."""
from collections import namedtuple
from itertools import groupby
from operator import attrgetter

Sale = namedtuple("Sale", "day region seller amount")

RAW = """
2024-03-01 north ada 1200
2024-03-02 south bob 800
2024-03-02 north cyd 450
2024-03-05 west dov 975
2024-03-07 south bob 300
2024-03-09 south eve 1250
2024-03-11 west dov 60
2024-03-11 north ada 90
"""


def load(text):
    sales = []
    for line in text.strip().splitlines():
        day, region, seller, amount = line.split()
        sales.append(Sale(day, region, seller, int(amount)))
    return sales


def ranking(sales):
    totals = {}
    for sale in sales:
        totals[sale.seller] = totals.get(sale.seller, 0) + sale.amount
    return sorted(totals, key=lambda name: (-totals[name], name))


def per_region(sales):
    ordered = sorted(sales, key=attrgetter("day", "region"))  # CAUSE
    summary = {}
    for region, group in groupby(ordered, key=attrgetter("region")):
        amounts = [sale.amount for sale in group]
        summary[region] = {"count": len(amounts), "sum": sum(amounts), "best": max(amounts)}
    return summary


def render(summary):
    width = max(map(len, summary))
    lines = []
    for region in sorted(summary):
        row = summary[region]
        lines.append(f"{region:<{width}} {row['count']:>3} {row['sum']:>7}")
    lines.append("-" * (width + 12))
    lines.append(f"{'all':<{width}} {'':>3} {sum(r['sum'] for r in summary.values()):>7}")
    return lines


sales = load(RAW)
assert len(sales) == 8
assert ranking(sales)[:3] == ["ada", "eve", "bob"]
page = render(per_region(sales))
grand_total = int(page[-1].split()[-1])
assert grand_total == sum(s.amount for s in sales), page
