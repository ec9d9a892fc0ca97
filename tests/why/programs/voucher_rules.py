"""Vouchers of a web shop: each code has its percentage and least amount."""

ROWS = [
    ("SPRING", 10, 3000),
    ("HELLO", 5, 0),
    ("BULK", 20, 10000),
    ("FRIEND", 15, 2000),
    ("LAST", 30, 15000),
]


class Basket:
    def __init__(self, owner, code=None):
        self.owner = owner
        self.code = code
        self.lines = []

    def add(self, what, cents, count=1):
        self.lines.append((what, cents, count))
        return self

    def total(self):
        return sum(cents * count for _, cents, count in self.lines)


def build_rules(rows):
    rules = {}
    for code, percent, least in rows:
        def reduction(basket):  # CAUSE
            total = basket.total()
            if total < least:
                return 0
            return total * percent // 100
        rules[code] = reduction
    return rules


class Checkout:
    def __init__(self, rules):
        self.rules = rules
        self.paid = {}

    def pay(self, basket):
        total = basket.total()
        rule = self.rules.get(basket.code)
        if rule is not None:
            total -= rule(basket)
        self.paid[basket.owner] = total
        return total


def baskets():
    yield Basket("Ola").add("lamp", 3900).add("bulb", 300, 2)
    yield Basket("Pia", "SPRING").add("rug", 6400)
    yield Basket("Quentin", "HELLO").add("cup", 450, 4)
    yield Basket("Rosa", "BULK").add("chair", 4900, 4)
    yield Basket("Sami", "FRIEND").add("clock", 1900)
    yield Basket("Tove", "LAST").add("sofa", 52000)


checkout = Checkout(build_rules(ROWS))
for basket in baskets():
    print(f"{basket.owner:<8}{basket.total():>7}{checkout.pay(basket):>7}")
takings = sum(checkout.paid.values())
assert takings == 65950, takings
