# ask: free_minutes
"""Room bookings of a day: busy blocks, free gaps, and the load of the room."""


def minutes(clock):
    hours, mins = clock.split(":")
    return int(hours) * 60 + int(mins)


def clock(value):
    return f"{value // 60:02d}:{value % 60:02d}"


class Room:
    def __init__(self, name, opens="08:00", closes="18:00"):
        self.name = name
        self.opens = minutes(opens)
        self.closes = minutes(closes)
        self.bookings = []

    def book(self, who, start, end):
        begin, finish = minutes(start), minutes(end)
        if not self.opens <= begin < finish <= self.closes:
            raise ValueError(f"{who}: outside opening hours")
        self.bookings.append((begin, finish, who))

    def busy(self):
        blocks = []
        for begin, finish, _ in sorted(self.bookings):
            if blocks and begin <= blocks[-1][1]:
                blocks[-1][1] = finish  # CAUSE
            else:
                blocks.append([begin, finish])
        return blocks

    def gaps(self):
        cursor = self.opens
        free = []
        for begin, finish in self.busy():
            if begin > cursor:
                free.append((cursor, begin))
            cursor = finish
        if cursor < self.closes:
            free.append((cursor, self.closes))
        return free


room = Room("Oak")
room.book("team", "09:00", "12:30")
room.book("call", "10:00", "10:30")
room.book("review", "14:00", "15:00")
room.book("hiring", "14:45", "16:15")

free_minutes = sum(end - start for start, end in room.gaps())
listing = [f"{clock(start)}-{clock(end)}" for start, end in room.gaps()]
longest = max(room.gaps(), key=lambda gap: gap[1] - gap[0])
load = 1 - free_minutes / (room.closes - room.opens)
print(room.name, listing, f"{load:.0%}")
