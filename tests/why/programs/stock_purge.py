"""Pharmacy stock: deliveries, dispensing oldest first, purging expired lots."""
from dataclasses import dataclass


@dataclass
class Lot:
    drug: str
    batch: str
    expires: int
    units: int


class Shelf:
    def __init__(self):
        self.lots = []
        self.waste = 0

    def deliver(self, drug, batch, expires, units):
        self.lots.append(Lot(drug, batch, expires, units))
        self.lots.sort(key=lambda lot: (lot.drug, lot.expires))

    def units(self, drug):
        return sum(lot.units for lot in self.lots if lot.drug == drug)

    def purge(self, today):
        for lot in self.lots:  # CAUSE
            if lot.expires <= today:
                self.waste += lot.units
                self.lots.remove(lot)  # CAUSE

    def dispense(self, drug, wanted):
        taken = []
        for lot in self.lots:
            if lot.drug != drug or not wanted:
                continue
            part = min(lot.units, wanted)
            lot.units -= part
            wanted -= part
            taken.append((lot.batch, part))
        self.lots = [lot for lot in self.lots if lot.units]
        if wanted:
            raise LookupError(f"{drug}: {wanted} short")
        return taken


shelf = Shelf()
shelf.deliver("aspirin", "a-77", 310, 40)
shelf.deliver("aspirin", "a-52", 95, 12)
shelf.deliver("ibuprofen", "i-09", 120, 25)
shelf.deliver("aspirin", "a-58", 101, 8)
shelf.deliver("ibuprofen", "i-14", 400, 30)

assert shelf.units("aspirin") == 60
first = shelf.dispense("aspirin", 5)
assert first == [("a-52", 5)]
shelf.purge(today=125)
later = shelf.dispense("aspirin", 10)
rest = {drug: shelf.units(drug) for drug in ("aspirin", "ibuprofen")}
assert rest["ibuprofen"] == 30
assert later == [("a-77", 10)], later
