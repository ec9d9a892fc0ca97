"""Change from a till, by coins of some values."""


class Till:
    def __init__(self, coins):
        self.coins = sorted(coins, reverse=True)

    def change(self, amount):
        for coin in self.coins:
            if coin <= amount:
                return [coin, *self.change(amount - coin)]
        return [None]  # CAUSE


def pay(till, amounts):
    return {amount: till.change(amount) for amount in amounts}


paid = pay(Till([1, 5, 20]), [7, 46])
assert sum(len(coins) for coins in paid.values()) == 7
