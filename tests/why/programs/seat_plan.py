"""Seat reservations are saved as text between two sittings."""
import json


# --- model -----------------------------------------------------------------
class Hall:
    def __init__(self, rows, per_row):
        self.rows = rows
        self.per_row = per_row
        self.taken = {}

    def reserve(self, row, guest):
        if not 1 <= row <= self.rows:
            raise ValueError(f"no row {row}")
        names = self.taken.setdefault(row, [])
        if len(names) >= self.per_row:
            return False
        names.append(guest)
        return True

    def free_in(self, row):
        return self.per_row - len(self.taken.get(row, ()))


# --- storage ---------------------------------------------------------------
def dump(hall):
    return json.dumps({"size": [hall.rows, hall.per_row], "taken": hall.taken})


def load(text):
    data = json.loads(text)
    hall = Hall(*data["size"])
    for row, names in data["taken"].items():
        hall.taken[row] = [name.strip() for name in names]  # CAUSE
    return hall


# --- requests --------------------------------------------------------------
FIRST = [(1, "Ada"), (1, "Bo"), (2, "Cyd"), (3, "Dov"), (3, "Eli")]
SECOND = [(1, "Flo"), (2, "Gus"), (3, "Hal"), (2, "Ivy")]


def seat(hall, wishes):
    refused = []
    for row, guest in wishes:
        if not hall.reserve(row, guest):
            refused.append(guest)
    return refused


def occupancy(hall):
    total = hall.rows * hall.per_row
    used = sum(len(names) for names in hall.taken.values())
    return round(100 * used / total)


def picture(hall):
    out = []
    for row in range(1, hall.rows + 1):
        free = hall.free_in(row)
        out.append("x" * (hall.per_row - free) + "." * free)
    return out


evening = Hall(rows=4, per_row=2)
early = seat(evening, FIRST)
assert early == [] and occupancy(evening) == 62
saved = dump(evening)
restored = load(saved)
assert occupancy(restored) == occupancy(evening)
late = seat(restored, SECOND)
print("\n".join(picture(restored)), late)
assert late == ["Flo", "Hal", "Ivy"], late
