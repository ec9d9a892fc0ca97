# ask: card["average"]
"""Score cards for a pub quiz."""

from statistics import median

ROUNDS = {
    "owls": [7, 9, 4, 8],
    "foxes": [6, 6, 9, 10],
    "moles": [3, 8, 8, 7],
}


def average(points):
    return sum(points) // len(points)  # CAUSE


def best_round(points):
    top = max(points)
    return points.index(top) + 1


def make_card(team, points):
    return {
        "team": team.title(),
        "total": sum(points),
        "average": average(points),
        "median": median(points),
        "best": best_round(points),
    }


def winner(cards):
    return max(cards.values(), key=lambda card: (card["total"], card["average"]))


cards = {team: make_card(team, points) for team, points in ROUNDS.items()}
card = winner(cards)
for line in cards.values():
    print("{team:6} {total:3} {median}".format_map(line))
print("won by", card["team"], "in round", card["best"])
