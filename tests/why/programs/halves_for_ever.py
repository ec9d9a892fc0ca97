"""The sum of readings, by halves."""


class Readings:
    def __init__(self, values):
        self.values = values

    def total(self, begin, end):
        def both(one, other):
            return one + other

        if begin == end:  # CAUSE
            return 0
        middle = (begin + end) // 2
        return both(self.total(begin, middle), self.total(middle, end))


def totals(days):
    return [Readings(values).total(0, len(values)) for values in days]


assert totals([[4, 7], [1, 2, 3]]) == [11, 6]
