"""Stores for a small web shop: one that logs, one that rounds."""


class Store:
    def __init__(self):
        self.prices = {}

    def put(self, name, price):
        self.prices[name] = price

    def get(self, name):
        return self.prices[name]


class Rounded(Store):
    """Keeps whole cents."""

    def put(self, name, price):
        super().put(name, round(price, 2))


class Doubled(Store):
    """Turns what the shop pays into what it asks for."""

    def put(self, name, price):
        super().put(name, price * 2)


class Logged(Store):
    def __init__(self):
        super().__init__()
        self.log = []

    def put(self, name, price):
        self.log.append(name)
        super().put(name, price)


class ShopStore(Logged, Rounded, Doubled):  # CAUSE
    """What the shop uses."""


def load(store, lines):
    for line in lines:
        name, _, price = line.partition(":")
        store.put(name.strip(), float(price))
    return store


store = load(ShopStore(), ["pencil: 0.125", "eraser: 0.4", "ruler: 1.333"])
print(store.log)
assert store.get("ruler") == 2.67
