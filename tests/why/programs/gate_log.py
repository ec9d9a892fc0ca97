"""Reads the log of a car park's gate and finds the slow openings."""
import re

LOG = '''\
07:01 lane=1 card=4411 took=310
07:02 lane=2 card=1180 took=295
07:05 lane=1 note="guest of Lund" card=0 took=820
07:09 lane=3 card=7002 took=305
07:11 lane=2 card=1190 took=1210
07:15 lane=1 plate="KX 11 B" note="bike rack" card=5120 took=640
07:16 lane=3 card=7090 took=288
07:20 lane=2 note="van" card=0 took=905 op="Mia"
07:22 lane=1 card=4410 took=330
'''
PAIR = re.compile(r'(\w+)=(?:"(.*)"|(\S+))')  # CAUSE
NUMBERS = {"lane", "card", "took"}


def fields(line):
    found = {}
    for name, quoted, plain in PAIR.findall(line):
        value = quoted or plain
        found[name] = int(value) if name in NUMBERS else value
    return found


class Opening:
    def __init__(self, when, lane, took, card, extra):
        self.when = when
        self.lane = lane
        self.took = took
        self.card = card
        self.extra = extra

    def slow(self, limit=800):
        return self.took > limit


def parse(text):
    openings = []
    for line in text.splitlines():
        when, rest = line.split(" ", 1)
        row = fields(rest)
        lane, took, card = (row.pop(name) for name in ("lane", "took", "card"))
        openings.append(Opening(when, lane, took, card, row))
    return openings


def per_lane(openings):
    sums = {}
    for opening in openings:
        sums.setdefault(opening.lane, []).append(opening.took)
    return {lane: sum(took) // len(took) for lane, took in sums.items()}


openings = parse(LOG)
for opening in filter(Opening.slow, openings):
    print(opening.when, opening.lane, opening.took, opening.extra)
averages = per_lane(openings)
for lane in sorted(averages):
    print("lane", lane, averages[lane], "ms")
