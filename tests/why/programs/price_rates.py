from functools import lru_cache


class Prices:
    def __init__(self, table):
        self.table = table
        self.rate = 1.0

    @lru_cache(maxsize=None)
    def price(self, article):
        return round(self.table[article] * self.rate, 2)  # CAUSE

    def set_rate(self, rate):
        self.rate = rate


class Basket:
    def __init__(self, prices):
        self.prices = prices
        self.articles = []

    def add(self, *articles):
        self.articles.extend(articles)

    def total(self):
        return sum(self.prices.price(article) for article in self.articles)


def main():
    prices = Prices({"tea": 4.0, "mug": 9.0})
    basket = Basket(prices)
    basket.add("tea", "mug")
    before = basket.total()
    prices.set_rate(1.5)
    basket.add("tea")
    after = basket.total()
    print(before, after)
    assert after == 25.5, after


main()
