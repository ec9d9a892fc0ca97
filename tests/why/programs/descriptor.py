"""Tanks of a heating system whose level is kept within bounds."""


class Bounded:
    """A number that is kept between two bounds."""

    def __init__(self, low, high):
        self.low = low
        self.high = high

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        return self.level  # CAUSE

    def __set__(self, instance, value):
        self.level = min(self.high, max(self.low, value))  # CAUSE


class Tank:
    litres = Bounded(0, 500)
    degrees = Bounded(5, 95)

    def __init__(self, label, litres, degrees):
        self.label = label
        self.litres = litres
        self.degrees = degrees

    def draw(self, litres):
        before = self.litres
        self.litres = before - litres
        return before - self.litres

    def heat(self, degrees):
        self.degrees += degrees


def stored(tanks):
    return sum(tank.litres for tank in tanks)


tanks = [Tank("attic", 300, 40), Tank("cellar", 450, 60)]
drawn = tanks[0].draw(120)
tanks[1].heat(50)
print("drawn", drawn, "hottest", max(tank.degrees for tank in tanks))
assert stored(tanks) == 630
