"""Fines that readers of a town library owe at the end of a month."""
from datetime import date

LOANS = """\
R104;Atlas of Rivers;2024-03-01;2024-03-29;n
R104;Clay and Kiln;2024-03-02;;n
R207;Night Trains;2024-02-11;2024-03-02;n
R311;Braille Reader 2;2024-02-20;;y
R311;Harbour Lights;2024-02-01;2024-03-12;n
R207;The Salt Road;2024-02-15;2024-03-16;n
R415;Knots;2024-03-10;;n
R104;Low Tide;2024-01-20;2024-02-20;n
R415;Braille Maps;2024-01-04;2024-03-04;y
R311;Owls at Home;2024-02-18;2024-03-20;n
R207;Six Bridges;2024-03-14;;n
R415;Winter Bees;2024-02-02;2024-03-08;n
"""
PERIOD = 21
CENTS_A_DAY = 15
CEILING = 600


class Loan:
    def __init__(self, reader, title, lent, back, exempt):
        self.reader = reader
        self.title = title
        self.lent = date.fromisoformat(lent)
        self.back = date.fromisoformat(back) if back else None
        self.exempt = exempt == "y"

    def days_late(self, today):
        end = self.back or today
        return max(0, (end - self.lent).days - PERIOD)


def parse(text):
    return [Loan(*line.split(";")) for line in text.splitlines()]


def by_reader(loans):
    shelves = {}
    for loan in loans:
        shelves.setdefault(loan.reader, []).append(loan)
    return shelves


def fine(loans, today):
    total = 0
    for loan in loans:
        if loan.exempt:
            return total  # CAUSE
        days = loan.days_late(today)
        if days:
            total += min(CEILING, days * CENTS_A_DAY)
    return total


def letter(reader, cents):
    if not cents:
        return f"{reader}: nothing owed"
    return f"{reader}: please pay {cents / 100:.2f}"


today = date(2024, 3, 31)
shelves = by_reader(parse(LOANS))
owed = {reader: fine(loans, today) for reader, loans in shelves.items()}
for reader in sorted(owed):
    print(letter(reader, owed[reader]))
total = sum(owed.values())
print("to collect:", total)
assert total == 1155, total
