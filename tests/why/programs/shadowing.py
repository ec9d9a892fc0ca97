"""An invoice with lines, a discount for the customer and postage."""

from dataclasses import dataclass


@dataclass
class Line:
    article: str
    quantity: int
    cents: int
    rebate: int = 0


def postage(lines):
    pieces = sum(line.quantity for line in lines)
    return 0 if pieces > 10 else 490


def describe(lines):
    return ", ".join(f"{line.quantity} x {line.article}" for line in lines)


def invoice(lines, rebate):
    amount = 0
    for line in lines:
        rebate = line.rebate  # CAUSE
        amount += line.quantity * line.cents * (100 - rebate) // 100
    amount -= amount * rebate // 100
    return amount + postage(lines)


def show(cents):
    return f"{cents // 100}.{cents % 100:02d}"


def main():
    lines = [Line("lamp", 1, 4000, 10), Line("bulb", 4, 250), Line("cable", 2, 700)]
    print(describe(lines))
    due = invoice(lines, rebate=20)
    print("due:", show(due))
    assert show(due) == "52.90"


main()
