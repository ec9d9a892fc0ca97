LIMITS = [3500, 7500, 12000, 18000, 26000]
FEES = [2, 5, 9, 14, 20, 31]


def place(limits, weight):
    low, high = 0, len(limits) - 1  # CAUSE
    while low < high:
        middle = (low + high) // 2
        if limits[middle] < weight:
            low = middle + 1
        else:
            high = middle
    return low


def fee(weight):
    return FEES[place(LIMITS, weight)]


def day(passages):
    taken = []
    for plate, weight in passages:
        taken.append((plate, fee(weight)))
    return taken


taken = day([("AB 12", 3000), ("CD 7", 12000), ("EF 99", 31000), ("GH 3", 7600)])
income = sum(amount for _, amount in taken)
assert income == 51
