"""Prints a nested inspection report; a part that fails is noted and left."""
from contextlib import contextmanager

SITE = {
    "Boiler": {"pressure": 1.8, "valves": {"inlet": 3, "outlet": 2}},
    "Lift": {"rope": "worn", "brakes": {"upper": 4, "lower": "n/a"}},
    "Alarm": {"battery": 12.4, "sirens": {"roof": 2, "yard": 1}},
    "Ramp": {"slope": 6, "rails": {"left": 5, "right": 5}},
}


class Unreadable(Exception):
    pass


class Writer:
    def __init__(self, step=2):
        self.step = step
        self.level = 0
        self.lines = []

    def write(self, text):
        self.lines.append(" " * (self.step * self.level) + text)

    @contextmanager
    def block(self, title):
        self.write(title + ":")
        self.level += 1
        yield self  # CAUSE
        self.level -= 1


# --- rendering -------------------------------------------------------------
def number(value):
    if isinstance(value, str):
        raise Unreadable(value)
    return f"{value:g}"


def part(writer, name, value):
    if isinstance(value, dict):
        with writer.block(name):
            for inner, deeper in value.items():
                part(writer, inner, deeper)
    else:
        writer.write(f"{name} {number(value)}")


def report(writer, site):
    failed = []
    with writer.block("Report"):
        for name, value in site.items():
            try:
                part(writer, name, value)
            except Unreadable as error:
                failed.append((name, str(error)))
                writer.write(f"! {name} not readable")
    return failed


writer = Writer()
failed = report(writer, SITE)
writer.write(f"{len(failed)} failed")
print("\n".join(writer.lines))
heads = [line for line in writer.lines if line.strip(" :") in SITE]
assert len(heads) == len(SITE)
crooked = [line.strip() for line in heads if not line.startswith("  " + line.strip())]
assert not crooked, crooked
