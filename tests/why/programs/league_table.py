# ask: [team.name for team in table]
"""Table of a handball league, from the results of its matches."""

RESULTS = """\
Falke 28 Nord 25
Hafen 22 Linde 22
Nord 31 Hafen 24
Linde 19 Falke 27
Falke 20 Hafen 26
Nord 29 Linde 21
Hafen 30 Falke 24
Linde 25 Nord 27
Hafen 18 Nord 18
Falke 33 Linde 26
"""


class Team:
    def __init__(self, name):
        self.name = name
        self.played = 0
        self.points = 0
        self.scored = 0
        self.received = 0

    def add(self, own, other):
        self.played += 1
        self.scored += own
        self.received += other
        if own > other:
            self.points += 2
        elif own == other:
            self.points += 1

    @property
    def difference(self):
        return self.scored - self.received


def parse(text):
    for line in text.splitlines():
        home, a, away, b = line.split()
        yield home, int(a), away, int(b)


def play(results):
    teams = {}
    for home, a, away, b in results:
        teams.setdefault(home, Team(home)).add(a, b)
        teams.setdefault(away, Team(away)).add(b, a)
    return teams


def rank(team):
    """More points first, then the better difference, then the name."""
    return -team.points, team.difference, team.name  # CAUSE


def show(table):
    for place, team in enumerate(table, 1):
        print(f"{place} {team.name:<8}{team.points:>3}{team.difference:>+5}")


teams = play(parse(RESULTS))
table = sorted(teams.values(), key=rank)
show(table)
goals = sum(team.scored for team in table)
print("goals", goals)
