"""Freight quotes; distances and rates are looked up once and remembered."""

LEGS = {
    ("Oslo", "Kiel"): 680,
    ("Kiel", "Bonn"): 510,
    ("Bonn", "Lyon"): 690,
    ("Oslo", "Lyon"): 1720,
}
RATES = {"road": 9, "rail": 6, "air": 41}
SURCHARGE = {"road": 1500, "rail": 2600, "air": 9000}


class Remember:
    def __init__(self):
        self.store = {}
        self.hits = 0

    def get(self, key, make):
        if key in self.store:
            self.hits += 1
        else:
            self.store[key] = make()
        return self.store[key]


class Quotes:
    def __init__(self):
        self.memo = Remember()
        self.issued = 0

    def distance(self, start, end):
        for pair in ((start, end), (end, start)):
            if pair in LEGS:
                return LEGS[pair]
        raise LookupError(f"no leg {start}-{end}")

    def leg_price(self, start, end, mode):
        key = tuple(sorted((start, end)))  # CAUSE
        return self.memo.get(key, lambda: self.distance(start, end) * RATES[mode])  # CAUSE

    def quote(self, stops, mode, tons=1):
        self.issued += 1
        price = SURCHARGE[mode]
        for start, end in zip(stops, stops[1:]):
            price += self.leg_price(start, end, mode) * tons
        return price


def cheapest(quotes, stops, tons):
    offers = {mode: quotes.quote(stops, mode, tons) for mode in sorted(RATES)}
    best = min(offers, key=offers.get)
    return best, offers[best]


desk = Quotes()
assert desk.quote(["Oslo", "Lyon"], "air") == 1720 * 41 + 9000
assert desk.quote(["Lyon", "Oslo"], "air", 2) == 2 * 1720 * 41 + 9000
assert desk.memo.hits == 1
choice = cheapest(desk, ["Oslo", "Kiel", "Bonn"], 3)
assert desk.issued == 5
assert choice == ("rail", 3 * 1190 * 6 + 2600), choice
