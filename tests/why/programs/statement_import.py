"""Reads a bank statement export and books it to accounts."""
from collections import defaultdict

EXPORT = """\
#account;day;amount
A-100;3;250
A-100;9;-40
B-200;4;75
B-200;5;-15
C-300;11;60
"""


def parse(text):
    header, *body = text.splitlines()
    names = header.lstrip("#").split(";")
    for raw in body:
        row = dict(zip(names, raw.split(";")))
        row["day"] = int(row["day"])
        row["amount"] = int(row["amount"])
        yield row


def fee_for(amount):
    return 2 if amount < 0 else 0


def book(rows, primary):
    totals = defaultdict(int)
    fees = 0
    for row in rows:
        account = row["account"]
        totals[account] += row["amount"]
        fees += fee_for(row["amount"])
    totals[account] -= fees  # CAUSE
    return dict(totals)


def describe(totals):
    width = max(map(len, totals))
    return [f"{name:<{width}} {value:>6}" for name, value in sorted(totals.items())]


def main():
    rows = list(parse(EXPORT))
    last_day = max(row["day"] for row in rows)
    totals = book(rows, primary="A-100")
    print(f"until day {last_day}")
    print("\n".join(describe(totals)))
    assert sum(totals.values()) == 326
    assert totals["A-100"] == 206, "statement does not match the bank"


main()
