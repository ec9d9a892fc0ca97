# ask: closing["difference"]
from collections import Counter

COINS = [5000, 2000, 1000, 500, 200, 100, 50, 20, 10, 5, 2, 1]

SALES = [
    ("bread", "2.30", "cash"),
    ("cheese", "4.35", "cash"),
    ("olives", "3.10", "card"),
    ("wine", "9.95", "cash"),
    ("apples", "1.15", "cash"),
    ("butter", "2.29", "card"),
]


def to_cents(text):
    return int(float(text) * 100)  # CAUSE


def shown(cents):
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}"


def split_coins(cents):
    used = Counter()
    for coin in COINS:
        used[coin], cents = divmod(cents, coin)
    return +used


class Till:
    def __init__(self, opening):
        self.opening = to_cents(opening)
        self.lines = []

    def sell(self, name, price, how):
        self.lines.append((name, to_cents(price), how))

    def taken(self, how):
        return sum(cents for _, cents, kind in self.lines if kind == how)

    def expected(self):
        return self.opening + self.taken("cash")

    def close(self, counted):
        cents = sum(coin * n for coin, n in counted.items())
        return {
            "counted": cents,
            "expected": self.expected(),
            "difference": cents - self.expected(),
        }


till = Till("50.00")
for sale in SALES:
    till.sell(*sale)
drawer = Counter({5000: 1, 1000: 1, 500: 1, 200: 1, 50: 1, 20: 1, 5: 1})
closing = till.close(drawer)
print({name: shown(value) for name, value in closing.items()})
print("card", shown(till.taken("card")), dict(split_coins(closing["counted"])))
