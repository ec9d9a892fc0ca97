"""Reads a price feed; unknown rows are skipped unless asked otherwise."""
import os

FEED = """\
wheat 212.50
barley 180.00
-- market closed --
oats 165.25
rye n/a
"""

DECIMALS = int(os.environ.get("PRICEFEED_DECIMALS", "2"))
STRICT = bool(os.environ.get("PRICEFEED_STRICT", "0"))  # CAUSE


class Stats:
    def __init__(self):
        self.good = 0
        self.bad = 0

    def __str__(self):
        return f"{self.good} good, {self.bad} skipped"


def parse_row(text):
    parts = text.split()
    if len(parts) != 2:
        raise ValueError(f"odd row: {text!r}")
    return parts[0], round(float(parts[1]), DECIMALS)


def read(feed, stats):
    prices = {}
    for text in feed.splitlines():
        try:
            name, price = parse_row(text)
        except ValueError:
            if STRICT:
                raise
            stats.bad += 1
            continue
        stats.good += 1
        prices[name] = price
    return prices


def cheapest(prices):
    return min(prices, key=prices.get)


stats = Stats()
prices = read(FEED, stats)
print(stats, "cheapest:", cheapest(prices))
assert stats.good == 3 and cheapest(prices) == "oats"
