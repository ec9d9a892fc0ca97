import re

LINE = re.compile(r"(?P<time>\d\d:\d\d) (?P<user>\w+) (?P<verb>GET|PUT) (?P<path>\S+) (?P<ms>\d+)")


class Registry:
    def __init__(self):
        self.totals = {}

    def add(self, user, ms):
        entry = self.totals.setdefault(user, {"n": 0, "ms": 0, "max": 0})
        entry["n"] += 1
        entry["ms"] += ms
        entry["max"] = max(entry["max"], ms)


def parse(line):
    match = LINE.match(line)  # CAUSE
    if not match:
        return None
    found = match.groupdict()
    found["ms"] = int(found["ms"])
    return found


def process(text, registry):
    slow = []
    for line in text.splitlines():
        entry = parse(line.strip())
        if entry is None:
            continue
        if entry["ms"] > 200:
            slow.append(entry["path"])
        registry.add(entry["user"].lower(), entry["ms"])
    return slow


def main():
    registry = Registry()
    process("10:00 ann GET /a 120\n10:01 Bob PUT /b 300\n10:03 eve POST /d 10\n10:05 cid GET /z 30", registry)
    return {user: entry["ms"] / entry["n"] for user, entry in registry.totals.items()}


means = main()
assert "eve" in means, f"no figures for eve: {means}"
