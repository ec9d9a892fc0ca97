def meter(limit):
    used = 0
    alarms = []

    def device(name):
        share = 0

        def consume(amount):
            nonlocal share
            used = share + amount  # CAUSE
            share += amount
            if used > limit:
                alarms.append((name, used))
            return share

        return consume

    def state():
        return used, list(alarms)

    return device, state


def simulated(device):
    devices = {name: device(name) for name in ("oven", "heater", "car")}
    for hour in range(4):
        for name, consume in devices.items():
            if name == "car" and hour < 2:
                continue
            consume(3 + hour)
    return {name: consume(0) for name, consume in devices.items()}


device, state = meter(40)
shares = simulated(device)
used, alarms = state()
assert used == sum(shares.values())
