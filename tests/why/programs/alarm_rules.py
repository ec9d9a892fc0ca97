"""Greenhouse monitoring: limits per sensor, alarms collected per reading."""
from collections import defaultdict

LIMITS = {
    "air": (12, 34),
    "soil": (20, 60),
    "light": (100, 900),
}


class Monitor:
    def __init__(self):
        self.checks = defaultdict(list)
        self.alarms = []
        self.readings = 0

    def watch(self, sensor, label, check):
        self.checks[sensor].append((label, check))

    def reading(self, minute, sensor, value):
        self.readings += 1
        for label, check in self.checks.get(sensor, ()):
            if check(value):
                self.alarms.append((minute, sensor, label))


def install(monitor, limits):
    for sensor, (low, high) in limits.items():
        monitor.watch(sensor, "low", lambda value: value < low)  # CAUSE
        monitor.watch(sensor, "high", lambda value: value > high)  # CAUSE


def replay(monitor, log):
    for row in log.split(";"):
        minute, sensor, value = row.split()
        monitor.reading(int(minute), sensor, float(value))


def by_label(alarms):
    table = defaultdict(int)
    for _, _, label in alarms:
        table[label] += 1
    return dict(table)


LOG = "0 air 18;0 soil 41;0 light 350;5 air 36.5;5 soil 44;5 light 940;10 air 21;10 soil 15;10 co2 410"

monitor = Monitor()
install(monitor, LIMITS)
replay(monitor, LOG)
assert monitor.readings == 9
assert (5, "light", "high") in monitor.alarms
counts = by_label(monitor.alarms)
assert counts == {"high": 2, "low": 1}, counts
