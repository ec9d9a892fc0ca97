"""Sends a utility's outage alerts through a gateway that is now and then busy."""
from collections import deque

PEOPLE = [
    ("Amal", "north"), ("Bea", "south"), ("Cem", "north"), ("Dora", "east"),
    ("Emil", "north"), ("Fay", "east"), ("Gil", "south"), ("Hana", "north"),
    ("Ivo", "east"), ("June", "north"),
]


class Busy(Exception):
    pass


class Gateway:
    """Is busy at every fourth message it is offered."""

    def __init__(self):
        self.offered = 0
        self.delivered = []

    def send(self, name, text):
        self.offered += 1
        if self.offered % 4 == 0:
            raise Busy(name)
        self.delivered.append((name, text))


class Sender:
    def __init__(self, gateway, tries=3):
        self.gateway = gateway
        self.tries = tries
        self.pending = deque()
        self.lost = []

    def post(self, name, text):
        self.pending.append((name, text, 1))

    def run(self):
        rounds = 0
        while self.pending:
            rounds += 1
            name, text, attempt = self.pending.popleft()
            try:
                self.gateway.send(name, text)
            except Busy:
                if attempt >= self.tries:  # CAUSE
                    self.lost.append(name)
        return rounds


def concerned(people, areas):
    return [name for name, area in people if area in areas]


def alert(areas, text):
    gateway = Gateway()
    sender = Sender(gateway)
    names = concerned(PEOPLE, areas)
    for name in names:
        sender.post(name, text)
    rounds = sender.run()
    print("rounds", rounds, "offered", gateway.offered)
    return names, gateway, sender


names, gateway, sender = alert({"north", "east"}, "Power back at 18:00")
reached = {name for name, _ in gateway.delivered}
assert not sender.lost
missing = [name for name in names if name not in reached]
assert not missing, missing
