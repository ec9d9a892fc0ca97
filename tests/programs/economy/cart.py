"""Two customers, each with a cart of her own: the second one pays too much."""


class Cart:
    def __init__(self, owner, items=[]):
        self.owner = owner
        self.items = items

    def add(self, name, price):
        self.items.append((name, price))

    def total(self):
        return sum(price for _, price in self.items)


def pay(owner, shopping):
    cart = Cart(owner)
    for name, price in shopping:
        cart.add(name, price)
    due = cart.total()
    print(owner, "pays", due)
    return due


pay("ann", [("tea", 3), ("jam", 4)])
pay("ben", [("milk", 2)])
