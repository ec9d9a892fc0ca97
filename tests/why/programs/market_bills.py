# ask: bills
"""Bills of a market stall's regular customers, from the notes of a week."""

NOTES = """\
Ada: 2 leek, 1 honey, 3 apple
Bram: 1 cheese, 2 apple
Coco: 4 leek
Dirk: 1 honey, 1 cheese, 6 egg
Elif: 12 egg, 2 leek
Ada: 1 cheese
Coco: 6 egg, 1 honey
"""
PRICES = {"leek": 80, "honey": 650, "apple": 40, "cheese": 900, "egg": 35}
DISCOUNT = {"Dirk": 10}


def parse_basket(text):
    basket = []
    for part in text.split(","):
        count, name = part.split()
        basket.append((name, int(count)))
    return basket


def parse(text):
    for line in text.splitlines():
        name, rest = line.split(":")
        yield name, parse_basket(rest)


def reduce(name, cents):
    return cents - cents * DISCOUNT.get(name, 0) // 100


def make_bills(orders):
    bills = {}
    for name, basket in orders:
        total = 0
        for name, count in basket:  # CAUSE
            total += PRICES[name] * count
        bills[name] = bills.get(name, 0) + reduce(name, total)
    return bills


def sold(orders):
    counts = dict.fromkeys(PRICES, 0)
    for _, basket in orders:
        for article, count in basket:
            counts[article] += count
    return counts


def slip(name, cents):
    return f"{name:<8}{cents / 100:>8.2f}"


orders = list(parse(NOTES))
bills = make_bills(orders)
stock = sold(orders)
for name in sorted(bills):
    print(slip(name, bills[name]))
print("sold", stock)
print("takings", sum(bills.values()))
