# ask: absent["roof"]
"""Votes of a parish council; a member without a mark was absent."""
from itertools import zip_longest

MEMBERS = ["Abel", "Berit", "Carl", "Dina", "Ed", "Fiona", "Gus", "Hedda"]
MINUTES = """\
budget: y y n y a y n y
roof: y y y n y
choir: n n y y a n n
organ: y y y y y y y y
tower: n y y n y n
path: y a a y y y n y
"""
MARKS = {"y": "for", "n": "against", "a": "abstained", "": "absent"}


def parse(text):
    motions = {}
    for line in text.splitlines():
        motion, marks = line.split(":")
        motions[motion] = marks.split()
    return motions


def votes(marks):
    found = {}
    for member, mark in zip(MEMBERS, marks):  # CAUSE
        found.setdefault(MARKS[mark], []).append(member)
    return found


def carried(found):
    return len(found.get("for", ())) > len(found.get("against", ()))


def columns(names, count=3):
    rows = [iter(names)] * count
    return list(zip_longest(*rows, fillvalue=""))


class Record:
    def __init__(self, motions):
        self.results = {name: votes(marks) for name, marks in motions.items()}

    def line(self, motion):
        found = self.results[motion]
        counts = ", ".join(f"{len(found[k])} {k}" for k in sorted(found))
        end = "carried" if carried(found) else "lost"
        return f"{motion}: {counts}: {end}"

    def missing(self, motion):
        return self.results[motion].get("absent", [])


record = Record(parse(MINUTES))
absent = {motion: record.missing(motion) for motion in record.results}
for motion in record.results:
    print(record.line(motion))
for row in columns(MEMBERS):
    print("{:<8}{:<8}{:<8}".format(*row))
