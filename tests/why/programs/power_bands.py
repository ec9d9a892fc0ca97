# ask: bills["Noor"]
"""Electricity bills in bands: up to and including a limit, its price holds."""
from bisect import bisect_left, bisect_right

LIMITS = [100, 250, 500]
CENTS = [18, 22, 29, 35]
READINGS = """\
Arvid 4120 4215
Bodil 880 1135
Noor 2300 2550
Otto 10250 10790
Petra 150 150
Rune 7001 7310
Signe 640 739
"""
STANDING = 450
MONTHS = "jan feb mar apr may jun".split()


def parse(text):
    for line in text.splitlines():
        name, before, after = line.split()
        yield name, int(before), int(after)


def band(kwh):
    return bisect_right(LIMITS, kwh)  # CAUSE


def rate(kwh):
    return CENTS[band(kwh)]


class Account:
    def __init__(self, name, before, after):
        self.name = name
        self.before = before
        self.after = after

    @property
    def used(self):
        return self.after - self.before

    def bill(self):
        return STANDING + self.used * rate(self.used)


def spread(accounts):
    counts = [0] * len(CENTS)
    for account in accounts:
        counts[band(account.used)] += 1
    return counts


def since(accounts, reading):
    ends = sorted(account.after for account in accounts)
    return len(ends) - bisect_left(ends, reading)


accounts = [Account(*row) for row in parse(READINGS)]
bills = {account.name: account.bill() for account in accounts}
for account in accounts:
    print(f"{account.name:<7}{account.used:>5} kWh{bills[account.name] / 100:>9.2f}")
print("per band", spread(accounts))
print("meters past 1000:", since(accounts, 1000))
