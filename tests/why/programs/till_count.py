"""Counts a kiosk's till at closing time against the receipts."""

RECEIPTS = """\
08:02 coffee 2.50
08:10 bun 1.20
08:11 paper 3.10
08:40 coffee 2.50
09:05 stamps 8.70
09:30 soup 4.35
10:12 card 1.15
10:15 paper 3.10
11:20 juice 2.95
11:48 gift 19.99
12:01 soup 4.35
12:30 bun 1.20
"""


def parse_money(text):
    """Cents, from a text such as 3.10."""
    return int(float(text) * 100)  # CAUSE


def show_money(cents):
    return f"{cents // 100}.{cents % 100:02}"


def parse_receipts(text):
    rows = []
    for line in text.splitlines():
        when, what, price = line.split()
        rows.append((when, what, parse_money(price)))
    return rows


def by_article(rows):
    sums = {}
    for _, what, cents in rows:
        count, total = sums.get(what, (0, 0))
        sums[what] = (count + 1, total + cents)
    return sums


class Till:
    def __init__(self, float_cents):
        self.cents = float_cents
        self.moves = []

    def take(self, cents, note):
        self.cents += cents
        self.moves.append((cents, note))

    def close(self, counted):
        return counted - self.cents


# --- tests -----------------------------------------------------------------
def test_receipts_are_read():
    rows = parse_receipts(RECEIPTS)
    assert len(rows) == 12
    assert rows[0] == ("08:02", "coffee", 250)


def test_articles():
    sums = by_article(parse_receipts(RECEIPTS))
    assert sums["coffee"] == (2, 500)
    assert sums["paper"][0] == 2


def test_till_agrees():
    till = Till(5000)
    for when, what, cents in parse_receipts(RECEIPTS):
        till.take(cents, f"{when} {what}")
    difference = till.close(counted=10509)
    print("in the till", show_money(till.cents))
    assert difference == 0, show_money(difference)


if __name__ == "__main__":
    test_receipts_are_read()
    test_articles()
    test_till_agrees()
