"""A small shop with a bug: Bob is charged for what Ada bought."""

Item = tuple[str, int]


def fill_cart(items: list[Item], cart: list[Item] = []) -> list[Item]:  # noqa: B006
    cart.extend(items)
    return cart


def total(cart: list[Item]) -> int:
    amount = 0
    for _name, price in cart:
        amount += price
    return amount


def serve(customer: str, items: list[Item]) -> int:
    cart = fill_cart(items)
    amount = total(cart)
    print(f"{customer} pays {amount}")
    return amount


if __name__ == "__main__":
    serve("Ada", [("tea", 4), ("cake", 6)])
    serve("Bob", [("coffee", 3)])
