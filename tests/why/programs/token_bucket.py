"""API gateway: token buckets per client, driven by a fake clock in milliseconds."""


class Clock:
    def __init__(self):
        self.now = 0

    def advance(self, ms):
        self.now += ms


class Bucket:
    def __init__(self, clock, per_second, burst):
        self.clock = clock
        self.per_second = per_second
        self.burst = burst
        self.tokens = burst
        self.stamp = clock.now

    def refill(self):
        passed = self.clock.now - self.stamp
        gained = passed * self.per_second // 1000  # CAUSE
        self.tokens = min(self.burst, self.tokens + gained)
        self.stamp = self.clock.now  # CAUSE

    def take(self, cost=1):
        self.refill()
        if self.tokens >= cost:
            self.tokens -= cost
            return True
        return False


class Gateway:
    def __init__(self, clock):
        self.clock = clock
        self.buckets = {}
        self.log = []

    def register(self, client, per_second, burst):
        self.buckets[client] = Bucket(self.clock, per_second, burst)

    def call(self, client, path):
        cost = 3 if path.startswith("/export") else 1
        status = 200 if self.buckets[client].take(cost) else 429
        self.log.append((self.clock.now, client, path, status))
        return status


clock = Clock()
gateway = Gateway(clock)
gateway.register("mobile", per_second=4, burst=6)
gateway.register("batch", per_second=1, burst=3)

assert gateway.call("batch", "/export/all") == 200
assert gateway.call("batch", "/ping") == 429
for step in range(40):
    gateway.call("mobile", "/items")
    clock.advance(200)
assert gateway.call("batch", "/export/all") == 200

served = sum(1 for _, client, _, status in gateway.log if client == "mobile" and status == 200)
assert served >= 36, served
