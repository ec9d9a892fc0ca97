"""Convert orders to euros, at the rate of their day."""

from functools import cache


class Rates:
    def __init__(self):
        self._per_euro = {"EUR": 1.0}
        self.updates = 0

    def update(self, code, per_euro):
        self._per_euro[code] = per_euro  # CAUSE
        self.updates += 1

    def __getitem__(self, code):
        return self._per_euro[code]


RATES = Rates()


@cache  # CAUSE
def factor(code):
    return 1 / RATES[code]


def euros(amount, code):
    return round(amount * factor(code), 2)


def book(day, orders):
    lines = []
    for number, amount, code in orders:
        lines.append({"day": day, "order": number, "euros": euros(amount, code)})
    return lines


def total(lines):
    return sum(line["euros"] for line in lines)


RATES.update("USD", 1.25)
RATES.update("SEK", 10.0)
monday = book("mon", [(1, 100, "USD"), (2, 80, "EUR")])
RATES.update("USD", 1.00)
tuesday = book("tue", [(3, 50, "SEK"), (4, 200, "USD")])
print(total(monday), RATES.updates)
assert total(tuesday) == 205.0
