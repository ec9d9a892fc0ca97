"""Scales recipes to a number of guests and prices a portion."""
from fractions import Fraction

BOOK = {
    "soup": {"serves": "4", "items": {"leek": "3", "stock": "3/2", "cream": "1/4"}},
    "bread": {"serves": "about 8", "items": {"flour": "1", "salt": "1/50"}},
    "salad": {"serves": "2", "items": {"lettuce": "1", "oil": "1/10"}},
}
PRICES = {"leek": 80, "stock": 120, "cream": 400, "flour": 90, "salt": 50,
          "lettuce": 110, "oil": 900}


def servings(text):
    try:
        return int(text)
    except ValueError:
        return 0  # CAUSE


def amounts(entry):
    return {name: Fraction(text) for name, text in entry["items"].items()}


def cost(entry):
    return sum(PRICES[name] * part for name, part in amounts(entry).items())


class Menu:
    def __init__(self, book):
        self.cards = []
        for title, entry in book.items():
            self.cards.append((title, servings(entry["serves"]), cost(entry)))

    def dearest(self):
        return max(self.cards, key=lambda card: card[2])[0]

    def portions(self):
        return {title: total / serves for title, serves, total in self.cards}


menu = Menu(BOOK)
print("most expensive:", menu.dearest())
assert menu.dearest() == "soup"
for title, price in menu.portions().items():
    print(f"{title:<8}{float(price):8.2f}")
