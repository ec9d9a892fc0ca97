"""Checks the water samples of a swimming pool's basins."""

SAMPLES = """\
main 7.2 0.6
main 7.3 0.5
main - 0.7
kids 7.0 0.4
kids 7.1 0.5
kids 7.4 -
dive 7.6 0.9
dive 7.5 0.8
"""
LIMITS = {"ph": (6.8, 7.6), "chlorine": (0.3, 1.0)}


def parse(text):
    samples = {}
    for line in text.splitlines():
        basin, ph, chlorine = line.split()
        rows = samples.setdefault(basin, {"ph": [], "chlorine": []})
        rows["ph"].append(ph)
        rows["chlorine"].append(chlorine)
    return samples


def measured(cells):
    """The cells that hold a number."""
    return (float(cell) for cell in cells if cell != "-")  # CAUSE


def mean(values):
    total = count = 0
    for value in values:
        total += value
        count += 1
    return round(total / count, 2)


class Report:
    def __init__(self):
        self.rows = []
        self.alarms = []

    def add(self, basin, quantity, values):
        low, high = LIMITS[quantity]
        average = mean(values)
        least, most = self.span(values)
        self.rows.append((basin, quantity, average, least, most))
        if least < low or most > high:
            self.alarms.append((basin, quantity))

    @staticmethod
    def span(values):
        ordered = sorted(values)
        return ordered[0], ordered[-1]


def inspect(samples):
    report = Report()
    for basin, columns in samples.items():
        for quantity, cells in columns.items():
            report.add(basin, quantity, measured(cells))
    return report


report = inspect(parse(SAMPLES))
for row in report.rows:
    print("{:<6}{:<10}{:>6}{:>6}{:>6}".format(*row))
print("alarms:", report.alarms)
