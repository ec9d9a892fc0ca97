"""Clocks the workers of a plant in and out and sums their hours."""
from collections import defaultdict


class Clock:
    """A clock that the simulation moves on, in minutes."""

    def __init__(self, hour):
        self.minute = hour * 60

    def now(self):
        return self.minute

    def advance(self, minutes):
        self.minute += minutes


clock = Clock(6)


class Terminal:
    def __init__(self):
        self.inside = {}
        self.stays = defaultdict(list)

    def enter(self, worker):
        self.inside[worker] = clock.now()

    def leave(self, worker, at=clock.now()):  # CAUSE
        start = self.inside.pop(worker)
        self.stays[worker].append((start, at))

    def minutes(self, worker):
        return sum(end - start for start, end in self.stays[worker])


SCRIPT = """\
+0 in Ada
+5 in Bo
+120 in Cleo
+90 out Bo
+30 in Bo
+60 out Ada
+45 out Cleo
+100 in Ada
+20 out Bo
+15 out Ada
"""


def play(terminal, script):
    for line in script.splitlines():
        wait, action, worker = line.split()
        clock.advance(int(wait))
        if action == "in":
            terminal.enter(worker)
        else:
            terminal.leave(worker)


def hours(minutes):
    return f"{minutes // 60}:{minutes % 60:02}"


terminal = Terminal()
play(terminal, SCRIPT)
totals = {worker: terminal.minutes(worker) for worker in terminal.stays}
for worker in sorted(totals):
    print(f"{worker:<6}{hours(totals[worker]):>8}")
print("clock", hours(clock.now()))
assert not terminal.inside
shortest = min(totals, key=totals.get)
assert totals[shortest] > 0, (shortest, totals[shortest])
