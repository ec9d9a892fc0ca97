"""Due dates of a lease, with reminders before and fees after the date."""
from calendar import monthrange
from datetime import date, timedelta


def add_months(day, months):
    position = day.month + months  # CAUSE
    year = day.year + position // 12
    month = position % 12 + 1  # CAUSE
    last = monthrange(year, month)[1]
    return date(year, month, min(day.day, last))


class Lease:
    def __init__(self, tenant, start, months, rent):
        self.tenant = tenant
        self.start = start
        self.months = months
        self.rent = rent
        self.paid = {}

    def due_dates(self):
        return [add_months(self.start, k) for k in range(self.months)]

    def reminders(self, days=5):
        return [day - timedelta(days=days) for day in self.due_dates()]

    def pay(self, day, amount):
        for due in self.due_dates():
            if due not in self.paid:
                self.paid[due] = (day, amount)
                return due
        raise ValueError("nothing is due")

    def fees(self, per_day=200):
        late = 0
        for due, (day, _) in self.paid.items():
            late += max((day - due).days, 0)
        return late * per_day

    def is_over(self, today):
        return today >= add_months(self.start, self.months)


lease = Lease("Quinn", date(2023, 10, 31), 6, 84000)
lease.pay(date(2023, 10, 30), 84000)
lease.pay(date(2023, 12, 2), 84000)
lease.pay(date(2024, 1, 2), 84000)
dates = lease.due_dates()
assert len(dates) == 6
assert dates == sorted(dates)
assert len(lease.paid) == 3
assert lease.fees() == 800, (lease.fees(), sorted(lease.paid))
