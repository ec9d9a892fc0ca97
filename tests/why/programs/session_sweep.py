from collections import namedtuple

Session = namedtuple("Session", "user last_seen pinned")


class Registry:
    def __init__(self, idle_limit):
        self.idle_limit = idle_limit
        self.active = []
        self.closed = []

    def open(self, user, at, pinned=False):
        self.active.append(Session(user, at, pinned))

    def is_stale(self, session, now):
        return not session.pinned and now - session.last_seen > self.idle_limit

    def sweep(self, now):
        for session in self.active:  # CAUSE
            if self.is_stale(session, now):
                self.closed.append(session.user)
                self.active.remove(session)  # CAUSE
        return len(self.closed)

    def users(self):
        return [s.user for s in self.active]


def load(registry, text):
    for line in text.strip().splitlines():
        fields = line.split()
        registry.open(fields[0], int(fields[1]), pinned="pin" in fields[2:])


def oldest(registry):
    return min(registry.active, key=lambda s: s.last_seen)


LOG = """
anna 100
bert 720
carl 180 pin
dora 210
emil 240
fay 690
"""

registry = Registry(idle_limit=300)
load(registry, LOG)
print("before", registry.users())
count = registry.sweep(now=800)
print("after", registry.users(), count)
assert oldest(registry).user == "carl"
assert registry.users() == ["bert", "carl", "fay"], registry.users()
