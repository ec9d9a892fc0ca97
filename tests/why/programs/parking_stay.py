from datetime import datetime, timedelta
import math

FORMAT = "%Y-%m-%d %H:%M"
FREE_MINUTES = 15
HOURLY = 3
DAILY_CAP = 24


class Stay:
    def __init__(self, plate, entered, left):
        self.plate = plate
        self.entered = datetime.strptime(entered, FORMAT)
        self.left = datetime.strptime(left, FORMAT)

    @property
    def length(self):
        return self.left - self.entered

    def minutes(self):
        return self.length.seconds // 60  # CAUSE


def fee(minutes):
    if minutes <= FREE_MINUTES:
        return 0
    days, rest = divmod(minutes, 24 * 60)
    hours = math.ceil(rest / 60)
    return days * DAILY_CAP + min(hours * HOURLY, DAILY_CAP)


def load(lines):
    stays = []
    for line in lines:
        plate, entered, left = (part.strip() for part in line.split(","))
        stays.append(Stay(plate, entered, left))
    return stays


def charge(stays):
    return {stay.plate: fee(stay.minutes()) for stay in stays}


LINES = [
    "KR-771, 2024-03-01 08:00, 2024-03-01 08:12",
    "WA-010, 2024-03-01 09:30, 2024-03-01 12:05",
    "GD-455, 2024-03-01 18:00, 2024-03-03 20:00",
    "PO-902, 2024-03-02 07:00, 2024-03-02 23:00",
]

stays = load(LINES)
fees = charge(stays)
busiest = max(stays, key=lambda s: s.length)
print(fees, busiest.plate, busiest.length > timedelta(days=2))
assert fees["KR-771"] == 0
assert fees["WA-010"] == 9
assert fees["PO-902"] == DAILY_CAP
assert fees["GD-455"] == 54, fees["GD-455"]
