"""The best load of a rucksack, by a table of what fits."""


class Load:
    def __init__(self, weight, worth):
        self.weight = weight
        self.worth = worth


def best(room, loads):
    table = {}
    for place in range(len(loads) + 1):
        for size in range(room + 1):
            table[place, size] = 0
    for place, load in enumerate(loads, 1):
        for size in range(1, room + 1):
            table[place, size] = table[place - 1, size]
            if load.weight < size:  # CAUSE
                other = load.worth + table[place - 1, size - load.weight]
                table[place, size] = max(table[place, size], other)
    return table[len(loads), room]


assert best(30, [Load(20, 10), Load(10, 20), Load(25, 12)]) == 30
