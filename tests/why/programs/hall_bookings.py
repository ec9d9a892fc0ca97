# ask: refused
"""Bookings of a village hall; requests that collide are refused."""
from dataclasses import dataclass

REQUESTS = [
    ("choir", "mon", 18, 20),
    ("judo", "mon", 20, 22),
    ("bridge", "mon", 21, 23),
    ("scouts", "tue", 16, 18),
    ("band", "tue", 17, 19),
    ("dance", "wed", 9, 11),
    ("yoga", "wed", 12, 13),
    ("council", "thu", 19, 22),
    ("chess", "thu", 14, 17),
    ("market", "fri", 7, 12),
    ("playgroup", "fri", 10, 11),
]


@dataclass
class Booking:
    who: str
    day: str
    start: int
    end: int

    def hours(self):
        return self.end - self.start

    def clashes(self, other):
        if self.day != other.day:
            return False
        return self.start <= other.end and other.start < self.end  # CAUSE


class Diary:
    def __init__(self, price=12):
        self.price = price
        self.accepted = []
        self.refused = []

    def request(self, booking):
        for other in self.accepted:
            if booking.clashes(other):
                self.refused.append((booking.who, other.who))
                return False
        self.accepted.append(booking)
        return True

    def income(self):
        return sum(b.hours() * self.price for b in self.accepted)

    def day(self, name):
        rows = [b for b in self.accepted if b.day == name]
        return sorted(rows, key=lambda b: b.start)


def fill(requests):
    diary = Diary()
    for row in requests:
        diary.request(Booking(*row))
    return diary


diary = fill(REQUESTS)
for name in ("mon", "tue", "wed", "thu", "fri"):
    hours = ", ".join(f"{b.who} {b.start}-{b.end}" for b in diary.day(name))
    print(f"{name}: {hours}")
refused = [who for who, _ in diary.refused]
print("income", diary.income(), "refused", len(refused))
