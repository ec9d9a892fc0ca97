# ask: totals["depot"]
"""What a courier earns: base fee, a supplement for heavy parcels, double on Sundays."""

from collections import Counter
from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Trip:
    stop: str
    day: date
    kilos: float


BASE = 350
HEAVY = 120


def is_sunday(day):
    return day.isoweekday() == 7


def fee(trip):
    cents = BASE + HEAVY if trip.kilos > 20 else 0  # CAUSE
    if is_sunday(trip.day):
        cents *= 2
    return cents


def settle(trips):
    totals = Counter()
    for trip in trips:
        totals[trip.stop] += fee(trip)
    return totals


def busiest(trips):
    return Counter(trip.day for trip in trips).most_common(1)[0][0]


TRIPS = [
    Trip("depot", date(2024, 3, 1), 4.5),
    Trip("harbour", date(2024, 3, 1), 31.0),
    Trip("depot", date(2024, 3, 3), 25.0),
    Trip("depot", date(2024, 3, 4), 2.0),
]

totals = settle(TRIPS)
print(dict(totals), busiest(TRIPS))
