class Event:
    def __init__(self, name, payload=None):
        self.name = name
        self.payload = payload or {}


class Bus:
    def __init__(self):
        self._handlers = {}
        self.unhandled = []

    def on(self, name, handler):
        self._handlers.setdefault(name, []).append(handler)

    def emit(self, event):
        handlers = self._handlers.get(event.name)
        if not handlers:
            self.unhandled.append(event.name)
            return []
        return [handler(event) for handler in handlers]


class Document:
    def __init__(self, text):
        self.text = text
        self.history = []

    def transform(self, how):
        self.history.append(how)
        self.text = getattr(self.text, how)()
        return self.text


MENU = {
    "shout": "upper",
    "whisper": "lower",
    "headline": "title",
    "flip": "swapcase",
}


def install(bus, document):
    for entry, method in MENU.items():
        def run(event):  # CAUSE
            return document.transform(method)  # CAUSE
        bus.on(entry, run)


def replay(bus, names):
    results = []
    for name in names:
        results.extend(bus.emit(Event(name)))
    return results


bus = Bus()
page = Document("the Quick brown fox")
install(bus, page)
results = replay(bus, ["shout", "undo", "headline"])
print(results, bus.unhandled)
assert bus.unhandled == ["undo"]
assert len(results) == 2
assert page.text == "The Quick Brown Fox", page.text
