class Sensor:
    unit = "raw"

    def __init__(self, name):
        self.name = name
        self.offset = 0.0
        self.samples = []

    def feed(self, value):
        self.samples.append(self.convert(value))

    def convert(self, value):
        return value + self.offset

    def mean(self):
        return sum(self.samples) / len(self.samples)


class Thermometer(Sensor):
    unit = "C"

    def __init__(self, name, offset=0.0):
        self.offset = offset  # CAUSE
        super().__init__(name)  # CAUSE

    def convert(self, value):
        return round(super().convert(value) / 10, 2)


class Barometer(Sensor):
    unit = "hPa"

    def __init__(self, name, altitude):
        super().__init__(name)
        self.altitude = altitude

    def convert(self, value):
        return value + self.altitude / 8


class Station:
    def __init__(self, *sensors):
        self.sensors = {s.name: s for s in sensors}

    def ingest(self, rows):
        for name, value in rows:
            self.sensors[name].feed(value)

    def summary(self):
        return {n: (round(s.mean(), 2), s.unit) for n, s in self.sensors.items()}


ROWS = [
    ("roof", 181), ("cellar", 120), ("air", 950),
    ("roof", 199), ("cellar", 124), ("air", 954),
]

station = Station(
    Thermometer("roof", offset=-10.0),
    Thermometer("cellar"),
    Barometer("air", altitude=480),
)
station.ingest(ROWS)
summary = station.summary()
print(summary)
assert summary["air"] == (1012.0, "hPa")
assert summary["cellar"] == (12.2, "C")
assert summary["roof"] == (18.0, "C"), summary["roof"]
