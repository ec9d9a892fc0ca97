"""Bills that are paid in instalments."""

from dataclasses import dataclass, field


@dataclass
class Bill:
    number: str
    due: float
    paid: float = 0.0
    state: str = "open"
    history: list = field(default_factory=list)


class Ledger:
    def __init__(self):
        self.bills = {}

    def add(self, number, due):
        self.bills[number] = Bill(number, due)

    def pay(self, number, text):
        bill = self.bills[number]
        amount = float(text.replace(",", "."))
        bill.history.append(amount)
        bill.paid += amount
        if bill.paid >= bill.due:  # CAUSE
            bill.state = "settled"

    def reminders(self):
        return sorted(bill.number for bill in self.bills.values() if bill.state == "open")


def run(ledger, journal):
    for line in journal.strip().splitlines():
        number, text = line.split()
        ledger.pay(number, text)


ledger = Ledger()
for number, due in [("A-17", 40.0), ("A-18", 0.8), ("A-19", 12.5)]:
    ledger.add(number, due)
run(ledger, "A-17 40,00\nA-18 0,10\nA-18 0,70\nA-19 5,00\n")
print(sum(len(bill.history) for bill in ledger.bills.values()), "payments")
assert ledger.reminders() == ["A-19"]
