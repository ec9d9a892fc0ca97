FACTORS = {
    "length": {"mm": 0.001, "cm": 0.01, "m": 1.0, "km": 1000.0},
    "mass": {"g": 0.001, "kg": 1.0, "t": 1000.0},
    "volume": {"ml": 0.001, "l": 1.0, "hl": 10.0},  # CAUSE
}


def dimension(unit):
    for name, units in FACTORS.items():
        if unit in units:
            return name
    raise KeyError(unit)


def convert(value, unit, target):
    units = FACTORS[dimension(unit)]
    return value * units[unit] / units[target]


def normalise(sample):
    found = {}
    for key, entry in sample.items():
        if isinstance(entry, dict) and "value" not in entry:
            found[key] = normalise(entry)
        else:
            found[key] = convert(entry["value"], entry["unit"], entry.get("as", entry["unit"]))
    return found


samples = {
    "tank": {"level": {"value": 3, "unit": "hl", "as": "l"}, "height": {"value": 250, "unit": "cm", "as": "m"}},
    "crate": {"weight": {"value": 1500, "unit": "g", "as": "kg"}},
}
result = normalise(samples)
assert result["tank"]["height"] == 2.5
assert result["tank"]["level"] == 300
