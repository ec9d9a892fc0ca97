# ask: payout
"""Weekly payroll from time cards, with overtime and deductions (in cents)."""
from dataclasses import dataclass, field

OVERTIME_AFTER = 40
OVERTIME_FACTOR = 1.5


@dataclass
class Worker:
    name: str
    hourly: int
    deductions: int = 0
    card: list = field(default_factory=list)

    def clock(self, *hours):
        self.card.extend(hours)
        return self


def split_hours(total):
    extra = max(total - OVERTIME_AFTER, 0)
    return total - extra, extra


def gross(worker, regular, extra):
    return round(worker.hourly * (regular + extra * OVERTIME_FACTOR))


def tax(amount):
    if amount <= 60000:
        return amount // 10
    return 6000 + (amount - 60000) // 5


def run_week(workers):
    slips = {}
    worked = 0  # CAUSE
    for worker in workers:
        for hours in worker.card:
            worked += hours
        regular, extra = split_hours(worked)
        earned = gross(worker, regular, extra)
        slips[worker.name] = {
            "hours": regular + extra,
            "gross": earned,
            "net": earned - tax(earned) - worker.deductions,
        }
    return slips


staff = [
    Worker("vera", 2100, 1500).clock(8, 8, 7.5, 8),
    Worker("walt", 1850).clock(9, 9, 9, 9, 8),
    Worker("xena", 2600, 3200).clock(4, 4),
]
slips = run_week(staff)
payout = sum(slip["net"] for slip in slips.values())
highest = max(slips, key=lambda name: slips[name]["net"])
print(f"{len(slips)} slips, {payout / 100:.2f}, highest {highest}")
