"""A report on the temperatures of a day."""

import statistics


def middle(values):
    values.sort()  # CAUSE
    half = len(values) // 2
    if len(values) % 2:
        return values[half]
    return (values[half - 1] + values[half]) / 2


def trend(values):
    rise = values[-1] - values[0]
    if abs(rise) < 1:
        return "steady"
    return "rising" if rise > 0 else "falling"


def parse(text):
    return [float(cell) for cell in text.split()]


class Report:
    def __init__(self, station, values):
        self.station = station
        self.values = values
        self.median = None
        self.spread = None
        self.trend = None

    def fill(self):
        self.spread = round(statistics.pstdev(self.values), 2)
        self.median = middle(self.values)
        self.trend = trend(self.values)
        return self

    def __str__(self):
        return f"{self.station}: {self.median} ({self.spread}), {self.trend}"


reports = [
    Report("valley", parse("9.5 11.0 14.5 17.0")).fill(),
    Report("summit", parse("2.0 4.5 1.0 -3.5 -6.0")).fill(),
]
for report in reports:
    print(report)
assert [report.trend for report in reports] == ["rising", "falling"]
