"""Rolling highs over tide gauge readings."""

READINGS = [12, 15, 11, 19, 23, 18, 14, 30, 9, 21]


def clean(values, low=0, high=99):
    return [v for v in values if low <= v <= high]


def rolling(values, size, pick=max):
    result = []
    for end in range(size, len(values) + 1):
        window = values[end - size:end - 1]  # CAUSE
        result.append(pick(window))
    return result


def changes(series):
    return sum(1 for a, b in zip(series, series[1:]) if a != b)


def alarms(series, limit):
    return [index for index, value in enumerate(series) if value >= limit]


class Report:
    def __init__(self, values, size):
        self.values = clean(values)
        self.size = size
        self.highs = rolling(self.values, size)

    def lines(self, limit):
        yield f"{len(self.values)} readings, window {self.size}"
        yield f"{changes(self.highs)} changes"
        yield f"alarms at {alarms(self.highs, limit)}"


report = Report(READINGS, 3)
for line in report.lines(limit=23):
    print(line)
assert len(report.highs) == 8
first_alarm = alarms(report.highs, 30)[0]
assert first_alarm == 5, first_alarm
