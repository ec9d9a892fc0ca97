from functools import wraps

calls = []


def remember(fn):
    seen = {}

    @wraps(fn)
    def wrapper(*args, **kwargs):
        key = (fn.__name__, args)  # CAUSE
        if key not in seen:
            seen[key] = fn(*args, **kwargs)
        return seen[key]

    return wrapper


TABLE = {
    ("EUR", "USD"): {2022: 1.05, 2023: 1.08, 2024: 1.10},
    ("EUR", "CHF"): {2022: 1.00, 2023: 0.97, 2024: 0.95},
}


@remember
def rate(source, target, *, year=2024):
    calls.append((source, target, year))
    if source == target:
        return 1.0
    return TABLE[source, target][year]


class Invoice:
    def __init__(self, number, amount, year):
        self.number = number
        self.amount = amount
        self.year = year

    def value_in(self, currency):
        return round(self.amount * rate("EUR", currency, year=self.year), 2)


def by_year(invoices, currency):
    out = {}
    for invoice in invoices:
        out.setdefault(invoice.year, 0)
        out[invoice.year] += invoice.value_in(currency)
    return out


book = [
    Invoice("A-1", 100, 2022),
    Invoice("A-2", 300, 2022),
    Invoice("B-1", 200, 2023),
    Invoice("C-1", 400, 2024),
]
dollars = by_year(book, "USD")
francs = by_year(book, "CHF")
print(dollars, francs)
assert francs[2022] == 400.0
assert dollars[2024] == 440.0, dollars
