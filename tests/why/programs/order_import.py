"""Import of orders: checked first, then stored."""


class Store:
    def __init__(self):
        self.orders = {}

    def add(self, number, amount):
        self.orders[number] = amount

    def total(self):
        return sum(self.orders.values())


class Problem(Exception):
    pass


def read_rows(text):
    for line in text.strip().splitlines():
        if line.startswith("#"):
            continue
        number, amount = line.split(",")
        yield number.strip(), int(amount)


def check(rows):
    known = set()
    for number, amount in rows:
        if number in known:
            raise Problem(f"{number} twice")
        if amount <= 0:
            raise Problem(f"{number}: {amount}")
        known.add(number)
    return len(known)


class Importer:
    def __init__(self, store):
        self.store = store
        self.log = []

    def run(self, text):
        rows = read_rows(text)  # CAUSE
        count = check(rows)
        self.log.append(f"{count} rows are good")
        for number, amount in rows:
            self.store.add(number, amount)
        self.log.append("done")
        return count


TEXT = """
# number, amount
a1, 10
a2, 25
a3, 5
"""


store = Store()
importer = Importer(store)
assert importer.run(TEXT) == 3
assert importer.log[-1] == "done"
assert store.total() == 40
