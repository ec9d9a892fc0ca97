# ask: chosen
"""Chooses which depots serve an order: the nearest that have enough."""
import math

DEPOTS = {
    "Yard": ((2, 1), 40),
    "Annex": ((9, 9), 80),
    "Mill": ((1, 3), 25),
    "Canal": ((6, 2), 60),
}


def distance(a, b):
    return math.hypot(a[0] - b[0], a[1] - b[1])


def stocked(need):
    for name, (place, units) in DEPOTS.items():
        if units >= need:
            yield name, place


def offers(site, need):
    found = []
    for name, place in stocked(need):
        found.append((name, round(distance(site, place), 1)))
    found.sort()  # CAUSE
    return found


def choose(site, need, count=2):
    return [name for name, _ in offers(site, need)[:count]]


def hours(km, speed=4):
    return math.ceil(km / speed)


def total_units(names):
    return sum(DEPOTS[name][1] for name in names)


site = (1, 1)
chosen = choose(site, need=30)
available = total_units(chosen)
journey = max(hours(km) for _, km in offers(site, need=30))
print("from", " and ".join(chosen))
print("units", available, "longest drive", journey, "h")
