"""When the next reminder of a meeting is due."""

from datetime import datetime, timedelta, timezone

UTC = timezone.utc
OFFICES = {"London": 0, "Berlin": 1, "Tokyo": 9, "New York": -5}


def zone(office):
    return timezone(timedelta(hours=OFFICES[office]), office)


class Meeting:
    def __init__(self, title, office, when):
        self.title = title
        self.office = office
        self.begins = datetime.strptime(when, "%Y-%m-%d %H:%M").replace(tzinfo=zone(office))

    def begins_utc(self):
        return self.begins.replace(tzinfo=UTC)  # CAUSE

    def reminders(self):
        for minutes in (60, 10):
            yield self.begins_utc() - timedelta(minutes=minutes)


class Calendar:
    def __init__(self):
        self.meetings = []

    def add(self, *fields):
        self.meetings.append(Meeting(*fields))

    def due(self, now):
        upcoming = []
        for meeting in self.meetings:
            for moment in meeting.reminders():
                if moment >= now:
                    upcoming.append((moment, meeting.title))
        return sorted(upcoming)


calendar = Calendar()
calendar.add("planning", "London", "2024-02-05 11:00")
calendar.add("review", "Tokyo", "2024-02-05 17:30")
calendar.add("retro", "New York", "2024-02-05 09:00")
upcoming = calendar.due(datetime(2024, 2, 5, 7, 0, tzinfo=UTC))
print(len(upcoming), "reminders")
moment, title = upcoming[0]
assert title == "review", f"{title} at {moment:%H:%M}"
