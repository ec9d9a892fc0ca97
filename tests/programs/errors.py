"""Raises exceptions of several kinds, most of them caught."""


class ShopError(Exception):
    pass


class SoldOut(ShopError):
    pass


def caught_key():
    try:
        {}["missing"]
    except KeyError:
        pass


def wrapped():
    price = "ten"
    try:
        int(price)
    except ValueError as error:
        raise SoldOut("nothing left") from error


def caught_shop():
    try:
        wrapped()
    except ShopError:
        pass


def fatal():
    empty = {}
    return empty["gone"]


caught_key()
caught_shop()
fatal()
