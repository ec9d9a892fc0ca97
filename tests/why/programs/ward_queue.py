"""Waiting line of an emergency ward: the most urgent patient is called first."""
import heapq
import itertools

ARRIVALS = [
    ("Bruno", 4), ("Celia", 3), ("Dario", 5), ("Edda", 2), ("Femi", 4),
    ("Greta", 3), ("Hugo", 5), ("Iris", 4), ("Jonas", 5), ("Kaya", 3),
]


class Entry(list):
    """A row of the heap: [level, number, name]."""

    @property
    def name(self):
        return self[2]


class Ward:
    def __init__(self):
        self.heap = []
        self.entries = {}
        self.numbers = itertools.count(1)
        self.called = []

    # --- arrivals ----------------------------------------------------------
    def admit(self, name, level):
        if name in self.entries:
            raise ValueError(f"{name} is already waiting")
        entry = Entry([level, next(self.numbers), name])
        self.entries[name] = entry
        heapq.heappush(self.heap, entry)

    def reassess(self, name, level):
        entry = self.entries[name]
        entry[0] = level  # CAUSE

    # --- calls -------------------------------------------------------------
    def call(self):
        entry = heapq.heappop(self.heap)
        del self.entries[entry.name]
        self.called.append(entry.name)
        return entry.name

    def waiting(self):
        return len(self.heap)

    def __bool__(self):
        return bool(self.heap)


def run(ward, arrivals):
    for name, level in arrivals:
        ward.admit(name, level)
    ward.call()
    ward.reassess("Jonas", 1)
    ward.admit("Lena", 4)
    log = []
    while ward:
        log.append((ward.call(), ward.waiting()))
    return log


ward = Ward()
log = run(ward, ARRIVALS)
for name, left in log:
    print(f"{name:<8}{left:>3} waiting")
position = ward.called.index("Jonas") + 1
assert position == 2, f"Jonas was called as number {position}"
