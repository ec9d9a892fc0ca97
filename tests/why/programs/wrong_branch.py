# ask: quotes[2].cents
"""Quotes for parcels, by distance and weight."""

from dataclasses import dataclass


@dataclass
class Quote:
    to: str
    zone: str
    cents: int


PER_KILO = {"near": 40, "country": 65, "abroad": 180}
DISTANCES = {"Potsdam": 35, "Hamburg": 290, "Lisbon": 2770, "Leipzig": 190}


def zone(kilometres):
    if kilometres > 50:  # CAUSE
        return "country"
    if kilometres > 1000:  # CAUSE
        return "abroad"
    return "near"


def handling(kilos):
    return 250 if kilos < 10 else 600


def quote(town, kilos):
    where = zone(DISTANCES[town])
    cents = handling(kilos) + PER_KILO[where] * kilos
    return Quote(town, where, cents)


def cheapest(quotes):
    return min(quotes, key=lambda quote: quote.cents)


ORDERS = [("Potsdam", 3), ("Hamburg", 12), ("Lisbon", 4), ("Leipzig", 1)]

quotes = [quote(town, kilos) for town, kilos in ORDERS]
print("cheapest:", cheapest(quotes).to)
print("sum:", sum(quote.cents for quote in quotes))
