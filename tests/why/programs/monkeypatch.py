"""A price service with a self-test at start-up."""

import math


class Tariff:
    def __init__(self, per_hour, free_minutes=10):
        self.per_hour = per_hour
        self.free_minutes = free_minutes

    def billable(self, minutes):
        return max(0, minutes - self.free_minutes)

    def price(self, minutes):
        hours = math.ceil(self.billable(minutes) / 60)
        return hours * self.per_hour


class Garage:
    def __init__(self, tariff):
        self.tariff = tariff
        self.takings = 0
        self.cars = []

    def leave(self, plate, minutes):
        price = self.tariff.price(minutes)
        self.cars.append(plate)
        self.takings += price
        return price


def self_test():
    calls = []

    def billable(self, minutes):
        calls.append(minutes)
        return 60

    Tariff.billable = billable  # CAUSE
    ok = Tariff(3).price(500) == 3 and calls == [500]
    return "ok" if ok else "broken"


def day(garage, log):
    return {plate: garage.leave(plate, minutes) for plate, minutes in log}


print("self-test:", self_test())
garage = Garage(Tariff(per_hour=2))
prices = day(garage, [("B-AB 12", 8), ("M-X 900", 61), ("HH-Q 7", 200)])
print(prices)
assert garage.takings == 10
