"""Counts the visits to a museum's rooms; the counts are kept between days."""
import json

DAYS = [
    [1, 2, 2, 3, 5, 1],
    [2, 3, 3, 3, 4],
    [1, 1, 5, 5, 2, 4, 4],
    [3, 2, 1, 2],
]
NAMES = {1: "Hall", 2: "Clocks", 3: "Ships", 4: "Maps", 5: "Birds"}


class Shelf:
    """Stands in for the disk: texts under names."""

    def __init__(self):
        self.texts = {}

    def save(self, name, counts):
        self.texts[name] = json.dumps(counts)

    def load(self, name):
        text = self.texts.get(name)
        if text is None:
            return {}
        return json.loads(text)  # CAUSE


def count(visits, counts):
    for room in visits:
        counts[room] = counts.get(room, 0) + 1
    return counts


def run(shelf, days):
    sums = []
    for visits in days:
        counts = shelf.load("rooms")
        count(visits, counts)
        shelf.save("rooms", counts)
        sums.append(sum(counts.values()))
    return sums


def chart(counts):
    rows = []
    for room, name in NAMES.items():
        rows.append(f"{name:<8}{'*' * counts.get(room, 0)}")
    return rows


def busiest(counts):
    return max(counts, key=counts.get)


shelf = Shelf()
sums = run(shelf, DAYS)
print("after each day:", sums)
assert len(sums) == len(DAYS)
final = count([], shelf.load("rooms"))
print("\n".join(chart(final)))
top = busiest(final)
assert NAMES.get(top) == "Clocks", top
