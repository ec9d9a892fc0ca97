"""A basket whose total is shown on each page."""

from functools import cached_property


class Item:
    def __init__(self, name, cents, weight=0):
        self.name = name
        self.cents = cents
        self.weight = weight


class Basket:
    def __init__(self, customer):
        self.customer = customer
        self.items = []

    @cached_property  # CAUSE
    def total(self):
        return sum(item.cents for item in self.items)

    @property
    def weight(self):
        return sum(item.weight for item in self.items)

    def add(self, item):
        self.items.append(item)  # CAUSE

    def remove(self, name):
        self.items = [item for item in self.items if item.name != name]


def badge(basket):
    return f"{len(basket.items)} items, {basket.total / 100:.2f}"


def postage(basket):
    if basket.total >= 5000:
        return 0
    return 390 if basket.weight < 1000 else 790


def checkout(basket):
    return basket.total + postage(basket)


basket = Basket("mina")
basket.add(Item("mug", 1150, 300))
print(badge(basket))
basket.add(Item("kettle", 4900, 1400))
basket.add(Item("tea", 600, 100))
basket.remove("mug")
print("to", basket.customer)
due = checkout(basket)
assert due == 5500, due
