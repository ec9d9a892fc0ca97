"""The turnover of a month from the receipts of two tills."""

import re

RECEIPTS = """\
1001 till-a   12.50 card
1002 till-a    8.00 cash
1003 till-b 1,299.00 card
1004 till-b   45.10 card
void till-b    0.00 cash
1005 till-a    3.99 cash
"""


class Month:
    def __init__(self, name):
        self.name = name
        self.turnover = 0.0
        self.by_means = {}

    def book(self, amount, means):
        self.turnover += amount
        self.by_means[means] = self.by_means.get(means, 0) + 1


def parse(line):
    number, till, amount, means = re.split(r"\s+", line.strip())
    return int(number), till, float(amount), means  # CAUSE


def book_all(month, text):
    tills = set()
    for line in text.splitlines():
        try:
            number, till, amount, means = parse(line)
        except ValueError:  # CAUSE
            continue  # CAUSE
        tills.add(till)
        month.book(amount, means)
    return tills


def main():
    month = Month("May")
    tills = book_all(month, RECEIPTS)
    print(month.name, sorted(tills), month.by_means)
    assert round(month.turnover, 2) == 1368.59


main()
