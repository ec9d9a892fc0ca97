"""The balance of an account from a bank's statement."""

from collections import namedtuple

Entry = namedtuple("Entry", "day kind cents")

STATEMENT = """\
02 Deposit   50000
05 Payment   12050
09 Payment    8000
11 Refund     8000
20 Payment    1999
"""


def read(text):
    for line in text.splitlines():
        day, kind, cents = line.split()
        yield Entry(int(day), kind.lower(), int(cents))


def signed(entry):
    if entry.kind == "deposit":
        return entry.cents
    if entry.kind == "Refund":  # CAUSE
        return entry.cents
    return -entry.cents


class Account:
    def __init__(self, holder):
        self.holder = holder
        self.balance = 0
        self.lowest = 0
        self.days = set()

    def book(self, entry):
        self.balance += signed(entry)
        self.lowest = min(self.lowest, self.balance)
        self.days.add(entry.day)


account = Account("R. Lovelace")
for entry in read(STATEMENT):
    account.book(entry)
print(account.holder, "booked on", len(account.days), "days")
assert account.balance == 35951, account.balance
