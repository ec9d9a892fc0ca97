"""Monthly invoices: the printed sheet and the booked total must agree."""
from dataclasses import dataclass, field


@dataclass
class Line:
    text: str
    cents: int
    kind: str = "goods"


@dataclass
class Order:
    customer: str
    lines: list = field(default_factory=list)

    def total(self):
        return sum(line.cents for line in self.lines)


# --- rules -----------------------------------------------------------------
def by_size(lines):
    return sorted(lines, key=lambda line: -line.cents)


def taxable(lines):
    kept = lines  # CAUSE
    for line in [entry for entry in lines if entry.kind == "deposit"]:
        kept.remove(line)
    return kept


def tax(lines, percent):
    base = sum(line.cents for line in taxable(lines))
    return base * percent // 100


# --- paper -----------------------------------------------------------------
class Sheet:
    def __init__(self, order):
        self.order = order
        self.rows = list(order.lines)
        self.foot = []

    def add_foot(self, text, cents):
        self.foot.append((text, cents))

    def text(self):
        body = [f"{row.text:<10}{row.cents:>7}" for row in by_size(self.rows)]
        tail = [f"{text:<10}{cents:>7}" for text, cents in self.foot]
        return "\n".join([self.order.customer, *body, *tail])

    def printed_sum(self):
        return sum(row.cents for row in self.rows)


# --- run -------------------------------------------------------------------
ORDERS = [
    Order("Rask & Co", [Line("paint", 2400), Line("brush", 350)]),
    Order("Vale", [Line("water", 900), Line("crate", 310, "deposit"), Line("cup", 45)]),
]


def run(orders, percent=20):
    booked = {}
    sheets = []
    for order in orders:
        sheet = Sheet(order)
        sheet.add_foot("tax", tax(order.lines, percent))
        booked[order.customer] = order.total()
        sheets.append(sheet)
    return sheets, booked


sheets, booked = run(ORDERS)
for sheet in sheets:
    print(sheet.text())
assert [sheet.foot[0][1] for sheet in sheets] == [550, 189]
for sheet in sheets:
    assert sheet.printed_sum() == booked[sheet.order.customer], sheet.order.customer
