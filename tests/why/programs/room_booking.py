from dataclasses import dataclass, field


@dataclass(frozen=True)
class Slot:
    start: int
    end: int

    def __post_init__(self):
        if self.start >= self.end:
            raise ValueError("a slot must have a length")

    @property
    def minutes(self):
        return self.end - self.start

    def clashes(self, other):
        return self.start <= other.end and other.start <= self.end  # CAUSE


@dataclass
class Room:
    name: str
    seats: int
    slots: list = field(default_factory=list)

    def free_for(self, slot):
        return not any(slot.clashes(taken) for taken in self.slots)


def clock(text):
    hours, minutes = text.split(":")
    return int(hours) * 60 + int(minutes)


class Planner:
    def __init__(self, rooms):
        self.rooms = sorted(rooms, key=lambda r: r.seats)
        self.placed = {}

    def place(self, title, people, start, end):
        slot = Slot(clock(start), clock(end))
        for room in self.rooms:
            if room.seats >= people and room.free_for(slot):
                room.slots.append(slot)
                self.placed[title] = room.name
                return room
        raise LookupError(f"no room for {title}")

    def usage(self):
        return {r.name: sum(s.minutes for s in r.slots) for r in self.rooms}


planner = Planner([Room("Oak", 12), Room("Fir", 4), Room("Elm", 6)])
planner.place("standup", 4, "09:00", "09:30")
planner.place("design", 5, "09:00", "10:30")
planner.place("interview", 3, "09:30", "10:15")
planner.place("board", 10, "09:15", "11:00")
planner.place("retro", 6, "10:30", "11:30")
print(planner.placed, planner.usage())
