"""Departure board of a ferry port that gets its times from a UTC feed."""
from datetime import datetime, timedelta, timezone

FEED = """\
F11;2024-06-03T04:40+00:00;Isle of Gull
F12;2024-06-03T06:15+00:00;Skarvik
F13;2024-06-03T09:50+00:00;Isle of Gull
F14;2024-06-03T13:05+00:00;Torp
F15;2024-06-03T17:30+00:00;Skarvik
F16;2024-06-03T21:10+00:00;Torp
F17;2024-06-03T22:45+00:00;Isle of Gull
"""
PORT = timezone(timedelta(hours=2), "port time")


class Departure:
    def __init__(self, code, when, goal):
        self.code = code
        self.when = when
        self.goal = goal

    def boarding(self):
        return self.when - timedelta(minutes=25)


def local(stamp):
    return stamp.replace(tzinfo=PORT)  # CAUSE


def parse(text):
    departures = []
    for line in text.splitlines():
        code, stamp, goal = line.split(";")
        when = local(datetime.fromisoformat(stamp))
        departures.append(Departure(code, when, goal))
    return departures


def board(departures, now):
    rows = []
    for departure in departures:
        if departure.when < now:
            continue
        left = departure.when - now
        rows.append((departure.code, departure.goal, left // timedelta(minutes=1)))
    return rows


def on_day(departures, day):
    return [d.code for d in departures if d.when.date() == day]


departures = parse(FEED)
now = datetime(2024, 6, 3, 8, 0, tzinfo=PORT)
rows = board(departures, now)
for code, goal, minutes in rows:
    print(f"{code} {goal:<14}{minutes // 60:>3} h {minutes % 60:02}")
today = on_day(departures, now.date())
print("today:", *today)
assert len(departures) == 7
assert rows[0][2] == 15, f"{rows[0][0]} leaves in {rows[0][2]} minutes"
