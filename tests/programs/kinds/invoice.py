"""A wrong value: of three things of a kind one is free. To pay are 40, and nothing fails."""

PRICES = {"tea": 4, "jam": 7, "nut": 9}


def free(count):
    return 1 if count > 1 else 0


def line_total(name, count):
    return PRICES[name] * (count - free(count))


total = 0
for name, count in [("tea", 2), ("jam", 3), ("nut", 2)]:
    total += line_total(name, count)
print("to pay:", total)
