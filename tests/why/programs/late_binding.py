"""Prices for the branches of a shop, each with its own tax."""

from decimal import Decimal

RATES = {"berlin": Decimal("0.19"), "zurich": Decimal("0.081"), "paris": Decimal("0.20")}
CENT = Decimal("0.01")


class Registry:
    def __init__(self):
        self._pricers = {}

    def add(self, branch, pricer):
        if branch in self._pricers:
            raise ValueError(f"{branch} is there already")
        self._pricers[branch] = pricer

    def quote(self, branch, net):
        return self._pricers[branch](net).quantize(CENT)


def open_branches(registry, rates):
    for branch, rate in rates.items():
        registry.add(branch, lambda net: net * (1 + rate))  # CAUSE
    return len(rates)


def basket(registry, branch, prices):
    total = Decimal(0)
    for price in prices:
        total += registry.quote(branch, Decimal(price))
    return total


registry = Registry()
count = open_branches(registry, RATES)
paris = basket(registry, "paris", ["10.00", "2.50"])
zurich = basket(registry, "zurich", ["10.00", "2.50"])
print(count, paris, zurich)
assert paris == Decimal("15.00")
assert zurich == Decimal("13.51")
