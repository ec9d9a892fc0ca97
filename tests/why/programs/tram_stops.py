"""Travel times on a tram net; a line can be ridden in both directions."""
from functools import lru_cache

LINES = {
    "1": "Depot 0 Mill 3 Market 5 Castle 9 Zoo 14",
    "4": "Harbour 0 Market 4 Station 6 Park 11",
    "7": "Zoo 0 Park 6 Arena 10 Depot 17",
}
TRIPS = [
    ("1", "Mill", "Castle"),
    ("1", "Zoo", "Market"),
    ("4", "Harbour", "Park"),
    ("1", "Depot", "Zoo"),
    ("7", "Arena", "Zoo"),
    ("7", "Zoo", "Depot"),
    ("4", "Station", "Harbour"),
    ("1", "Castle", "Mill"),
]


@lru_cache(maxsize=None)
def stops(line):
    words = LINES[line].split()
    return [(words[i], int(words[i + 1])) for i in range(0, len(words), 2)]


def minutes(line, name):
    for stop, minute in stops(line):
        if stop == name:
            return minute
    raise LookupError(f"{name} is not on line {line}")


def ride(line, start, goal):
    """The names of the stops passed, in their order of passing."""
    way = stops(line)
    if minutes(line, start) > minutes(line, goal):
        way.reverse()  # CAUSE
    names = [name for name, _ in way]
    return names[names.index(start):names.index(goal) + 1]


class Trip:
    def __init__(self, line, start, goal):
        self.line = line
        self.names = ride(line, start, goal)
        self.minutes = abs(minutes(line, goal) - minutes(line, start))

    def __str__(self):
        return f"{self.line}: {' - '.join(self.names)} ({self.minutes} min)"


trips = [Trip(*row) for row in TRIPS]
for trip in trips:
    print(trip)
total = sum(trip.minutes for trip in trips)
print("minutes in all", total)
assert total == 79, total
empty = [row for row, trip in zip(TRIPS, trips) if not trip.names]
assert not empty, empty
