import sys


def total(cart):
    amount = 0
    for name, price in cart:
        amount += price
    return amount


def pay(cart, purse):
    due = total(cart)
    if due > purse:
        raise ValueError(f"{due - purse} missing")
    return purse - due


print("Ada pays", pay([("tea", 2), ("cake", 4)], 10))
try:
    pay([("coffee", 3)], 1)
except ValueError as error:
    print("Bob:", error, file=sys.stderr)
sys.exit(3)
