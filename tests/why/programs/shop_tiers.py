"""Wholesale pricing: quantity tiers, shipping and invoice totals (in cents)."""
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field


@dataclass
class PriceList:
    sku: str
    unit: int
    breaks: list = field(default_factory=list)
    percents: list = field(default_factory=list)

    def percent_off(self, quantity):
        slot = bisect_left(self.breaks, quantity)  # CAUSE
        if slot == 0:
            return 0
        return self.percents[slot - 1]

    def line_price(self, quantity):
        gross = self.unit * quantity
        return gross - gross * self.percent_off(quantity) // 100


class Catalogue:
    def __init__(self):
        self._lists = {}

    def add(self, sku, unit, *tiers):
        tiers = sorted(tiers)
        self._lists[sku] = PriceList(sku, unit, [q for q, _ in tiers], [p for _, p in tiers])

    def __getitem__(self, sku):
        return self._lists[sku]

    def skus_below(self, limit):
        units = sorted((pl.unit, sku) for sku, pl in self._lists.items())
        cut = bisect_right(units, (limit, "~"))
        return [sku for _, sku in units[:cut]]


def shipping(weight_kg):
    if weight_kg <= 5:
        return 490
    return 490 + 60 * (weight_kg - 5)


def invoice(catalogue, lines, weight_kg):
    rows = []
    for sku, quantity in lines:
        rows.append((sku, quantity, catalogue[sku].line_price(quantity)))
    goods = sum(price for _, _, price in rows)
    freight = 0 if goods >= 50000 else shipping(weight_kg)
    return {"rows": rows, "goods": goods, "freight": freight, "total": goods + freight}


cat = Catalogue()
cat.add("bolt", 25, (100, 5), (500, 12))
cat.add("hinge", 340, (20, 4), (50, 10))
cat.add("lock", 1890, (5, 3), (10, 8))

assert cat.skus_below(340) == ["bolt", "hinge"]
small = invoice(cat, [("bolt", 40), ("lock", 1)], 3)
assert small["total"] == 1000 + 1890 + 490
mixed = invoice(cat, [("bolt", 600), ("hinge", 50), ("lock", 7)], 22)
expected = 15000 * 88 // 100 + 17000 * 90 // 100 + (13230 - 13230 * 3 // 100)
assert mixed["goods"] == expected, (mixed["goods"], expected)
