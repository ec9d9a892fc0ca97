"""Limits of calls per client."""


class Clock:
    def __init__(self):
        self.now = 0

    def forward(self, seconds):
        self.now += seconds


def make_limiter(clock, limit, window):
    used = {}
    refused = 0

    def expire(client):
        stamps = used.get(client, [])
        used[client] = [stamp for stamp in stamps if clock.now - stamp < window]

    def allow(client):
        expire(client)
        if len(used[client]) >= limit:
            refused = 1  # CAUSE
            return False
        used[client].append(clock.now)
        return True

    def report():
        return {"clients": len(used), "refused": refused}

    return allow, report


class Server:
    def __init__(self, clock):
        self.clock = clock
        self.allow, self.report = make_limiter(clock, limit=2, window=10)
        self.answers = []

    def handle(self, client, path):
        if not self.allow(client):
            self.answers.append((client, 429))
            return 429
        self.answers.append((client, 200))
        return 200


def drive(server, clock):
    for step in range(4):
        server.handle("ann", f"/{step}")
        clock.forward(1)
    server.handle("bob", "/")
    clock.forward(20)
    server.handle("ann", "/late")


clock = Clock()
server = Server(clock)
drive(server, clock)
codes = [code for _, code in server.answers]
assert codes == [200, 200, 429, 429, 200, 200]
report = server.report()
assert report["clients"] == 2
assert report["refused"] > 0
