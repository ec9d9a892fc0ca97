from dataclasses import dataclass


@dataclass
class Batch:
    code: str
    units: int
    expires: int


class Shelf:
    capacity = 500
    batches = []  # CAUSE

    def __init__(self, label):
        self.label = label
        self.moves = 0

    def receive(self, batch):
        if self.total() + batch.units > self.capacity:
            raise ValueError(f"{self.label} is full")
        self.batches.append(batch)
        self.moves += 1

    def total(self):
        return sum(b.units for b in self.batches)

    def next_to_expire(self):
        return min(self.batches, key=lambda b: b.expires)


class Pharmacy:
    def __init__(self, name, labels):
        self.name = name
        self.shelves = {label: Shelf(label) for label in labels}

    def deliver(self, label, rows):
        for code, units, expires in rows:
            self.shelves[label].receive(Batch(code, units, expires))

    def report(self):
        return {label: shelf.total() for label, shelf in self.shelves.items()}


def format_report(report):
    width = max(len(label) for label in report)
    return [f"{label.ljust(width)} {units:5d}" for label, units in report.items()]


shop = Pharmacy("Corner", ["cold", "general"])
shop.deliver("cold", [("INS-1", 40, 202507), ("VAC-3", 25, 202504)])
shop.deliver("general", [("ASP-9", 120, 202601), ("IBU-2", 80, 202512)])
report = shop.report()
lines = format_report(report)
for line in lines:
    print(line)
soonest = shop.shelves["general"].next_to_expire()
assert soonest.code == "IBU-2", soonest
