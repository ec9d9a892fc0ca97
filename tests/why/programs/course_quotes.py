# ask: quotes["Staff"]
"""Quotes for evening courses: each group may have its own percentage to pay."""
from dataclasses import dataclass
from typing import Optional

COURSES = {"pottery": 120, "spanish": 90, "welding": 240}


@dataclass
class Group:
    name: str
    pays: Optional[int] = None
    seats: int = 5


GROUPS = [
    Group("Adults"),
    Group("Seniors", 70),
    Group("Pupils", 40, 12),
    Group("Staff", 0, 2),
    Group("Guests", 110),
]
USUAL = 100


class Office:
    def __init__(self, courses, usual=USUAL):
        self.courses = courses
        self.usual = usual
        self.asked = []

    def percent(self, group):
        return group.pays or self.usual  # CAUSE

    def price(self, course, group):
        self.asked.append((course, group.name))
        return self.courses[course] * self.percent(group) / 100

    def quote(self, group):
        return {course: self.price(course, group) for course in self.courses}


def most_income(office, groups, course):
    total = 0
    for group in groups:
        total += office.price(course, group) * group.seats
    return total


def table(quotes):
    rows = []
    for name, prices in quotes.items():
        cells = "".join(f"{price:>9.2f}" for price in prices.values())
        rows.append(f"{name:<8}{cells}")
    return rows


office = Office(COURSES)
quotes = {group.name: office.quote(group) for group in GROUPS}
print(" " * 8 + "".join(f"{course:>9}" for course in COURSES))
print("\n".join(table(quotes)))
for course in COURSES:
    print(course, most_income(office, GROUPS, course))
print("asked", len(office.asked))
