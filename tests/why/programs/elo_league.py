# ask: pool
"""Elo ratings of a chess club over a season."""

RESULTS = """
ruth sven 1
tara ruth 0.5
sven tara 0
umar ruth 1
umar sven 0.5
tara umar 1
"""


class Player:
    def __init__(self, name, rating=1500.0):
        self.name = name
        self.rating = rating
        self.games = 0
        self.points = 0.0

    def expected(self, opponent_rating):
        return 1 / (1 + 10 ** ((opponent_rating - self.rating) / 400))


class League:
    def __init__(self, factor=32):
        self.factor = factor
        self.players = {}

    def player(self, name):
        if name not in self.players:
            self.players[name] = Player(name)
        return self.players[name]

    def game(self, white, black, score):
        a, b = self.player(white), self.player(black)
        a.rating += self.factor * (score - a.expected(b.rating))  # CAUSE
        b.rating += self.factor * (1 - score - b.expected(a.rating))  # CAUSE
        for who, gained in ((a, score), (b, 1 - score)):
            who.games += 1
            who.points += gained

    def table(self):
        return sorted(self.players.values(), key=lambda p: (-p.rating, p.name))


def play(text):
    league = League()
    for line in text.strip().splitlines():
        white, black, score = line.split()
        league.game(white, black, float(score))
    return league


league = play(RESULTS)
pool = round(sum(p.rating for p in league.players.values()), 3)
average = pool / len(league.players)
for place, entry in enumerate(league.table(), 1):
    print(f"{place}. {entry.name:<6}{entry.rating:8.1f} {entry.points:g}/{entry.games}")
