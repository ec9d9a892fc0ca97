"""Grades of a course: weighting, dropping absentees, mean and spread."""
import math

SHEET = [
    ("lena", [71, 80, None]),
    ("marc", [55, 62, 70]),
    ("nora", [None, None, None]),
    ("omar", [90, 88, 97]),
    ("pia", [64, None, 58]),
]
WEIGHTS = (1, 1, 2)


def weighted(marks):
    points = weight = 0
    for mark, factor in zip(marks, WEIGHTS):
        if mark is not None:
            points += mark * factor
            weight += factor
    return points / weight if weight else None


def course_marks(sheet):
    marks = ((name, weighted(row)) for name, row in sheet)
    return (mark for _, mark in marks if mark is not None)  # CAUSE


class Summary:
    def __init__(self, title, marks):
        self.title = title
        self.marks = marks  # CAUSE

    def best(self):
        return max(self.marks)

    def mean(self):
        total = n = 0
        for mark in self.marks:
            total += mark
            n += 1
        return total / n

    def spread(self):
        values = list(self.marks)
        middle = sum(values) / len(values)
        return math.sqrt(sum((v - middle) ** 2 for v in values) / len(values))

    def line(self):
        return f"{self.title}: best {self.best():.1f}, mean {self.mean():.1f}, spread {self.spread():.1f}"


assert weighted([71, 80, None]) == 75.5
report = Summary("Statics", course_marks(SHEET)).line()
assert report == "Statics: best 93.0, mean 73.2, spread 12.8", report
