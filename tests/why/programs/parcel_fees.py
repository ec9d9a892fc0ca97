# ask: surcharged
"""Fees of a parcel service, with a surcharge for awkward remote parcels."""
from collections import namedtuple

Parcel = namedtuple("Parcel", "code zone kilos fragile")

BASE = {"city": 450, "land": 620, "isle": 990}
PARCELS = [
    Parcel("P1", "city", 3, False),
    Parcel("P2", "isle", 22, False),
    Parcel("P3", "city", 25, False),
    Parcel("P4", "land", 7, True),
    Parcel("P5", "isle", 4, True),
    Parcel("P6", "isle", 5, False),
    Parcel("P7", "land", 31, True),
    Parcel("P8", "city", 1, True),
    Parcel("P9", "land", 12, False),
]
HEAVY = 20
EXTRA = 350


def awkward_remote(parcel):
    """A heavy or fragile parcel that goes to an isle."""
    return parcel.kilos > HEAVY or parcel.fragile and parcel.zone == "isle"  # CAUSE


def base_fee(parcel):
    steps = max(0, parcel.kilos - 5)
    return BASE[parcel.zone] + steps * 30


def fee(parcel):
    cents = base_fee(parcel)
    if awkward_remote(parcel):
        cents += EXTRA
    return cents


class Manifest:
    def __init__(self, parcels):
        self.parcels = list(parcels)

    def fees(self):
        return {p.code: fee(p) for p in self.parcels}

    def by_zone(self):
        zones = {}
        for parcel in self.parcels:
            zones.setdefault(parcel.zone, []).append(parcel.code)
        return zones


manifest = Manifest(PARCELS)
fees = manifest.fees()
surcharged = [p.code for p in PARCELS if fees[p.code] > base_fee(p)]
for zone, codes in manifest.by_zone().items():
    print(f"{zone}: " + ", ".join(f"{code} {fees[code]}" for code in codes))
print("sum", sum(fees.values()))
print("with surcharge:", len(surcharged))
