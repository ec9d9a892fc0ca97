# ask: final["margin"]["left"]
"""Settings of a print job: the house's, the printer's and the job's own."""

HOUSE = {
    "paper": "A4",
    "copies": 1,
    "margin": {"left": 20, "right": 20, "top": 15},
    "colour": {"mode": "grey", "depth": 8},
}
PRINTERS = {
    "attic": {"colour": {"mode": "black"}},
    "studio": {"paper": "A3", "margin": {"left": 12, "right": 12}},
}
JOB = {"copies": 3, "margin": {"left": 30}, "title": "Poster"}


# --- layers ----------------------------------------------------------------
def overlay(lower, upper):
    result = dict(lower)
    for key, value in upper.items():
        if isinstance(value, dict):
            result[key] = {**value, **result.get(key, {})}  # CAUSE
        else:
            result[key] = value
    return result


def layers(printer, job):
    yield "house", HOUSE
    yield printer, PRINTERS[printer]
    yield "job", job


def settle(printer, job):
    result = {}
    trail = []
    for name, layer in layers(printer, job):
        result = overlay(result, layer)
        trail.append((name, len(layer)))
    return result, trail


# --- output ----------------------------------------------------------------
def flat(tree, prefix=""):
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def area(final, width=297):
    margin = final["margin"]
    return width - margin["left"] - margin["right"]


final, trail = settle("studio", JOB)
for name, size in trail:
    print("from", name, size)
for key, value in sorted(flat(final)):
    print(f"{key:<14}{value}")
print("printable width", area(final))
