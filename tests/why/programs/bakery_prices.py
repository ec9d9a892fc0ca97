"""Prices of a bakery's breads, worked out from flour prices and recipes."""

RECIPES = {
    "rye": {"rye flour": 0.6, "salt": 0.01, "seeds": 0.05},
    "white": {"wheat flour": 0.65, "salt": 0.01, "butter": 0.02},
    "mixed": {"rye flour": 0.3, "wheat flour": 0.3, "salt": 0.01},
    "seed": {"wheat flour": 0.5, "seeds": 0.2, "salt": 0.01},
    "brioche": {"wheat flour": 0.45, "butter": 0.2, "eggs": 0.15},
}


class Market:
    def __init__(self, prices):
        self.prices = dict(prices)

    def price(self, what):
        return self.prices[what]


class Bakery:
    markup = 250

    def __init__(self, market, recipes):
        self.market = market
        self.recipes = recipes
        self.known = {}

    def cost(self, bread):
        if bread not in self.known:
            parts = self.recipes[bread].items()
            self.known[bread] = sum(
                self.market.price(what) * kilos for what, kilos in parts
            )
        return self.known[bread]

    def price(self, bread):
        return round(self.cost(bread) * (100 + self.markup) / 100)

    def users_of(self, what):
        return [bread for bread, parts in self.recipes.items() if what in parts]

    def news(self, what, cents):
        self.market.prices[what] = cents  # CAUSE
        return self.users_of(what)


def board(bakery):
    return {bread: bakery.price(bread) for bread in bakery.recipes}


market = Market({
    "rye flour": 140, "wheat flour": 120, "salt": 60,
    "seeds": 700, "butter": 900, "eggs": 400,
})
bakery = Bakery(market, RECIPES)
before = board(bakery)
NEWS = [("wheat flour", 150), ("eggs", 420), ("seeds", 650), ("butter", 820)]
touched = set()
for what, cents in NEWS:
    touched.update(bakery.news(what, cents))
after = board(bakery)
for bread in RECIPES:
    print(f"{bread:<8}{before[bread]:>6}{after[bread]:>6}")
unchanged = [bread for bread in touched if after[bread] == before[bread]]
assert not unchanged, sorted(unchanged)
