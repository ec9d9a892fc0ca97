class LinkDown(Exception):
    pass


class Link:
    def __init__(self, failures):
        self.failures = failures
        self.received = []

    def send(self, packet):
        if self.failures:
            self.failures -= 1
            raise LinkDown("no carrier")
        self.received.append(dict(packet))


def build(packet, readings):
    for name, value in readings:
        packet["sum"] += value
        packet["names"].append(name)
    return packet


def upload(link, readings, attempts=3):
    packet = {"sum": 0, "names": []}  # CAUSE
    for attempt in range(attempts):
        try:
            build(packet, readings)
            link.send(packet)
            return attempt + 1
        except LinkDown:
            continue
    return 0


def report(link):
    return sum(packet["sum"] for packet in link.received)


link = Link(failures=1)
tries = upload(link, [("hall", 4), ("attic", 6)])
tries += upload(link, [("cellar", 5)])
assert report(link) == 15
