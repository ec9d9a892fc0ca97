from functools import lru_cache

CALLS = {"hits": 0, "slow": 0}


@lru_cache(maxsize=64)
def _distance(stops):
    CALLS["slow"] += 1
    return sum(abs(one - other) for one, other in zip(stops, stops[1:]))


def distance(stops):
    try:
        return _distance(stops)  # CAUSE
    except TypeError:
        return None


def fee(stops, rate=2):
    length = distance(stops)
    if not length:
        return 5
    return 5 + length * rate


def plan(orders):
    bill = {}
    for name, stops in orders:
        bill[name] = fee(stops)
    return bill


bill = plan([("north", (1, 4, 9)), ("south", [2, 3, 8]), ("east", (5, 6))])
assert bill["south"] == 17
