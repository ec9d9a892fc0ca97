"""Canal lock: valves are tried in turn until the chamber is level."""


class Stuck(Exception):
    pass


class Valve:
    def __init__(self, name, flow, works=True):
        self.name = name
        self.flow = flow
        self.works = works
        self.open = False

    def turn(self):
        if not self.works:
            raise Stuck(self.name)
        self.open = True


class Chamber:
    def __init__(self, level):
        self.level = level
        self.log = []

    def drain(self, valve, minutes):
        moved = 0
        try:
            valve.turn()
            moved = min(self.level, valve.flow * minutes)
            self.level -= moved
            return moved
        except Stuck:
            return -1
        finally:
            valve.open = False
            self.log.append(valve.name)


def empty(chamber, valves, minutes=2):
    broken = []
    for valve in valves:
        if chamber.drain(valve, minutes) < 0:
            valves.append(valve.name)  # CAUSE
        if chamber.level == 0:
            break
    return broken


VALVES = [Valve("east", 4), Valve("sill", 9, works=False), Valve("west", 6)]
chamber = Chamber(level=20)
repairs = empty(chamber, VALVES)
print("tried", chamber.log, "level", chamber.level)
assert chamber.level == 0
assert not any(valve.open for valve in VALVES)
assert repairs == ["sill"], repairs
