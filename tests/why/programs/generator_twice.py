"""The amplitude of a signal, from the lines of a logger."""

from itertools import chain

LOG = """\
# sensor 7
0.0  12.5
0.5  13.1
1.0  # lost
1.5  12.0
2.0  14.4
"""


def lines(*texts):
    for line in chain.from_iterable(text.splitlines() for text in texts):
        line = line.partition("#")[0].strip()
        if line:
            yield line.split()


def samples(text):
    return (float(cells[1]) for cells in lines(text) if len(cells) == 2)  # CAUSE


class Signal:
    def __init__(self, name, values, offset=0.0):
        self.name = name
        self.values = values
        self.offset = offset

    def peak(self):
        return max(self.values) + self.offset

    def trough(self):
        return min(self.values) + self.offset

    def amplitude(self):
        return (self.peak() - self.trough()) / 2


def describe(signal):
    return f"{signal.name}: {signal.amplitude():.2f}"


signal = Signal("inlet", samples(LOG), offset=-0.2)
print(signal.name, "ready")
print(describe(signal))
