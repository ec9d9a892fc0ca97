"""Tariffs by region with a fallback."""


class Tariffs:
    def __init__(self, table, fallback):
        self.table = table
        self.fallback = fallback
        self.fallbacks = 0

    def rate(self, region, kind):
        try:
            entry = self.table[region]
            return self.scaled(entry["rates"][kind], entry)
        except KeyError:  # CAUSE
            self.fallbacks += 1
            return self.fallback

    def scaled(self, rate, entry):
        if entry["currency"] != "EUR":
            return rate * CURRENCIES[entry["currency"]]
        return rate


CURRENCIES = {"USD": 2, "GBP": 3}

TABLE = {
    "north": {"currency": "EUR", "rates": {"letter": 1, "parcel": 4}},
    "west": {"currency": "USD", "rates": {"letter": 2, "parcel": 3}},
    "east": {"currency": "CHF", "rates": {"letter": 1, "parcel": 6}},
}


class Shipment:
    def __init__(self, region, kind, weight):
        self.region = region
        self.kind = kind
        self.weight = weight


class Biller:
    def __init__(self, tariffs):
        self.tariffs = tariffs
        self.lines = []

    def bill(self, shipment):
        rate = self.tariffs.rate(shipment.region, shipment.kind)
        price = rate * shipment.weight
        self.lines.append((shipment.region, price))
        return price

    def total(self):
        return sum(price for _, price in self.lines)


biller = Biller(Tariffs(TABLE, fallback=100))
for region, kind, weight in [("north", "parcel", 2), ("west", "letter", 3), ("east", "parcel", 1), ("north", "letter", 5)]:
    biller.bill(Shipment(region, kind, weight))
assert biller.total() < 100
