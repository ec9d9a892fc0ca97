"""Levels of a river: gauges report, a gauge that is off keeps its last level."""


class Gauge:
    def __init__(self, name, level=0):
        self.name = name
        self.level = level
        self.peak = level
        self.silent = 0

    def report(self, level):
        if level is None:
            self.silent += 1
            return
        self.silent = 0
        if level <= self.level:
            self.level = level
            return
        self.level = level
        if level > self.peak:
            self.peak = level

    def reset(self):
        self.peak = 0  # CAUSE
        self.silent = 0


class River:
    def __init__(self, names):
        self.gauges = {name: Gauge(name) for name in names}

    def feed(self, rounds):
        for number, levels in enumerate(rounds):
            if number and number % 3 == 0:
                self.new_day()
            for name, level in levels.items():
                self.gauges[name].report(level)

    def new_day(self):
        for gauge in self.gauges.values():
            gauge.reset()

    def peaks(self):
        return {gauge.name: gauge.peak for gauge in self.gauges.values()}


def test_peaks():
    river = River(["north", "mill", "bridge"])
    river.feed([
        {"north": 210, "mill": 180, "bridge": 150},
        {"north": 230, "mill": 185, "bridge": 155},
        {"north": 220, "mill": 190, "bridge": 160},
        {"north": 225, "mill": 185, "bridge": 165},
        {"north": 240, "mill": None, "bridge": 170},
    ])
    assert river.peaks() == {"north": 240, "mill": 190, "bridge": 170}


test_peaks()
