"""A table of measurements by column."""


class Table:
    def __init__(self, names):
        self.names = names
        self.columns = {name: [] for name in names}

    def append(self, cells):
        for name, cell in zip(self.names, cells):  # CAUSE
            self.columns[name].append(cell)

    def rows(self):
        return len(self.columns[self.names[0]])

    def column(self, name):
        return self.columns[name]


def split(line):
    cells = []
    for cell in line.split(","):
        cell = cell.strip()
        if cell:  # CAUSE
            cells.append(float(cell))
    return cells


def load(text):
    lines = text.strip().splitlines()
    table = Table([name.strip() for name in lines[0].split(",")])
    for line in lines[1:]:
        table.append(split(line))
    return table


def mean(values):
    return sum(values) / len(values)


class Statistics:
    def __init__(self, table):
        self.table = table
        self.means = {name: mean(table.column(name)) for name in table.names}

    def above(self, name):
        limit = self.means[name]
        return [value for value in self.table.column(name) if value > limit]


TEXT = """
time, heat, wind
1, 20, 3
2, , 5
3, 22, 4
"""


statistics = Statistics(load(TEXT))
assert statistics.means["time"] == 2
assert statistics.means["heat"] == 21
