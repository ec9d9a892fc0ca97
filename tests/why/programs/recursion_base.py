"""How far down the parts list of a machine goes, and what it weighs."""

PARTS = {
    "press": ["frame", "drive", "table"],
    "drive": ["motor", "gear", "belt"],
    "gear": ["wheel", "shaft"],
    "frame": ["beam", "bolt"],
}
GRAMS = {"beam": 9000, "bolt": 40, "wheel": 700, "shaft": 1200, "motor": 8000, "belt": 150, "table": 5000}


def pieces(name):
    inside = PARTS.get(name)
    if not inside:
        return 0  # CAUSE
    number = 0
    for part in inside:
        number += pieces(part)
    return number


def weight(name):
    if name in GRAMS:
        return GRAMS[name]
    return sum(weight(part) for part in PARTS[name])


def label(name):
    kilos = weight(name) / 1000
    return f"{name}: {kilos:.1f} kg"


def mean_weight(name):
    return weight(name) / pieces(name)


def overview(names):
    table = []
    for name in names:
        print(label(name))
        table.append((name, round(mean_weight(name))))
    return table


for name, grams in overview(["frame", "gear", "press"]):
    print(f"{name:8} {grams:6} g a piece")
