import gc
import weakref


class Wire:
    def __init__(self):
        self.handlers = {}

    def subscribe(self, topic, handler):
        reference = weakref.ref(handler)  # CAUSE
        self.handlers.setdefault(topic, []).append(reference)

    def publish(self, topic, message):
        reached = 0
        for reference in list(self.handlers.get(topic, ())):
            handler = reference()
            if handler is None:
                self.handlers[topic].remove(reference)
                continue
            handler(message)
            reached += 1
        return reached


class Archive:
    def __init__(self, wire):
        self.kept = []
        wire.subscribe("sport", self.keep)

    def keep(self, message):
        self.kept.append(message)


def print_weather(message, seen=[]):
    seen.append(message)


wire = Wire()
archive = Archive(wire)
wire.subscribe("weather", print_weather)
gc.collect()
counts = [wire.publish("weather", "rain"), wire.publish("sport", "3:1")]
assert archive.kept == ["3:1"]
