# ask: podium["Mira"]
"""Diving scores: drop the extremes, average the rest, add difficulty."""
from collections import OrderedDict

MARKS = {
    "Mira": ([7, 8, 8, 9, 6], 30),
    "Nell": ([8, 8, 8, 8, 8], 28),
    "Olga": ([5, 9, 7, 7, 7], 31),
}


def trimmed(marks):
    ordered = sorted(marks)
    return ordered[1:-1]


def average(numbers):
    numbers = list(numbers)
    if not numbers:
        return 0.0
    return sum(numbers) // len(numbers)  # CAUSE


def score(marks, difficulty):
    return round(average(trimmed(marks)) * difficulty / 10, 2)


def ranking(table):
    scored = [(name, score(*entry)) for name, entry in table.items()]
    scored.sort(key=lambda pair: (-pair[1], pair[0]))
    return OrderedDict(scored)


def medal(place):
    return ("gold", "silver", "bronze")[place] if place < 3 else ""


podium = ranking(MARKS)
for place, (name, points) in enumerate(podium.items()):
    print(f"{place + 1}. {name:<6}{points:>7} {medal(place)}")
spread = max(podium.values()) - min(podium.values())
print("spread", round(spread, 2))
