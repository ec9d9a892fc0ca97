# ask: behind
"""Which meters of a fleet run firmware older than the one they should."""

WANTED = {"gas": "2.9.1", "water": "1.12.0", "heat": "3.4.0"}

FLEET = """\
G-01 gas 2.9.1
G-02 gas 2.10.0
G-03 gas 2.8.7
G-04 gas 2.9.0
W-01 water 1.12.0
W-02 water 1.9.4
W-03 water 1.11.2
W-04 water 1.13.1
H-01 heat 3.4.0
H-02 heat 3.3.12
H-03 heat 3.5.0
"""


class Meter:
    def __init__(self, code, kind, firmware):
        self.code = code
        self.kind = kind
        self.firmware = firmware

    def __repr__(self):
        return f"{self.code}({self.firmware})"


def parse(text):
    return [Meter(*line.split()) for line in text.splitlines()]


def version(text):
    return tuple(text.split("."))  # CAUSE


def is_behind(meter):
    return version(meter.firmware) < version(WANTED[meter.kind])


def outdated(meters):
    found = {}
    for meter in meters:
        if is_behind(meter):
            found.setdefault(meter.kind, []).append(meter.code)
    return found


def newest(meters, kind):
    own = [m for m in meters if m.kind == kind]
    return max(own, key=lambda m: version(m.firmware))


def plan(found, per_round=2):
    queue = [code for kind in sorted(found) for code in found[kind]]
    return [queue[i:i + per_round] for i in range(0, len(queue), per_round)]


meters = parse(FLEET)
behind = outdated(meters)
for number, codes in enumerate(plan(behind), 1):
    print("round", number, *codes)
for kind in WANTED:
    print("newest", kind, newest(meters, kind))
