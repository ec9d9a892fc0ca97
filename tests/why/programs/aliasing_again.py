"""A rota: who works on which day of the week."""

from itertools import cycle

DAYS = ["mon", "tue", "wed", "thu", "fri"]


class Rota:
    def __init__(self, days):
        self.people = dict.fromkeys(days, [])  # CAUSE
        self.notes = {}

    def assign(self, day, person):
        self.people[day].append(person)

    def remark(self, day, text):
        self.notes.setdefault(day, []).append(text)

    def busiest(self):
        return max(self.people, key=lambda day: len(self.people[day]))

    def load(self, person):
        return sum(person in people for people in self.people.values())


def fill(rota, staff, each):
    days = cycle(DAYS)
    for person in staff:
        for _ in range(each):
            rota.assign(next(days), person)


def lines(rota):
    for day in rota.people:
        notes = ", ".join(rota.notes.get(day, ["-"]))
        yield f"{day}: {notes}"


def main():
    rota = Rota(DAYS)
    fill(rota, ["ann", "bob", "cleo"], each=2)
    rota.remark("wed", "delivery at nine")
    print("\n".join(lines(rota)))
    print("busiest:", rota.busiest())
    load = rota.load("bob")
    assert load == 2, f"bob works on {load} days"


main()
