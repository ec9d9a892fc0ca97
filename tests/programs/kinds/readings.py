"""A crash: one reading lacks its unit."""

LINES = ["21 C", "70 F", "19", "23 C"]


def celsius(line):
    value, unit = line.split()
    return float(value) if unit == "C" else (float(value) - 32) / 1.8


def warmest(lines):
    return max(celsius(line) for line in lines)


print(warmest(LINES))
