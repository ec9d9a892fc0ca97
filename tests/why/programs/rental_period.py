"""Boat rentals: how long each boat was out and what is due."""
from datetime import date, timedelta


class Period:
    def __init__(self, start, days):
        self._start = start
        self._stop = start + timedelta(days=days)
        self._returned = None

    def bring_back(self, day):
        if day < self._start:
            raise ValueError("returned before it left")
        self._returned = day

    @property
    def start(self):
        return self._start

    @property
    def due(self):
        return self._stop

    @property
    def end(self):
        return self._stop  # CAUSE

    def overrun(self):
        return max(0, (self.end - self.due).days)


def charge(period, daily, penalty):
    planned = (period.due - period.start).days
    return planned * daily + period.overrun() * penalty


def build():
    out = {}
    for boat, day, days, back in [("Tern", 3, 4, 7), ("Gull", 5, 2, 10), ("Skua", 6, 3, 8)]:
        period = Period(date(2023, 6, day), days)
        period.bring_back(date(2023, 6, back))
        out[boat] = period
    return out


fleet = build()
bills = {boat: charge(period, 20, 35) for boat, period in fleet.items()}
for boat in sorted(bills):
    print(f"{boat}: {bills[boat]}")
assert bills["Tern"] == 80 and bills["Skua"] == 60
assert sum(bills.values()) == 285, sum(bills.values())
