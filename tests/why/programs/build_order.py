"""Orders build targets by their requirements (Kahn's algorithm)."""
from collections import defaultdict, deque

RULES = """
app: core ui assets
ui: core widgets
widgets: core theme core
core: base
assets:
theme: base
base:
"""


class CycleError(Exception):
    pass


def parse(text):
    rules = {}
    for line in text.strip().splitlines():
        target, _, needs = line.partition(":")
        rules[target.strip()] = needs.split()
    return rules


class Plan:
    def __init__(self, rules):
        self.rules = rules
        self.open_needs = {}
        self.users = defaultdict(set)
        for target, needs in rules.items():
            self.open_needs[target] = len(needs)  # CAUSE
            for need in needs:
                if need not in rules:
                    raise KeyError(f"{target} needs unknown {need}")
                self.users[need].add(target)

    def order(self):
        remaining = dict(self.open_needs)
        ready = deque(sorted(t for t, n in remaining.items() if n == 0))
        result = []
        while ready:
            target = ready.popleft()
            result.append(target)
            for user in sorted(self.users[target]):
                remaining[user] -= 1
                if remaining[user] == 0:
                    ready.append(user)
        if len(result) < len(self.rules):
            stuck = sorted(set(self.rules) - set(result))
            raise CycleError(", ".join(stuck))
        return result


def costs(order, seconds):
    clock = 0
    table = {}
    for target in order:
        clock += seconds.get(target, 1)
        table[target] = clock
    return table


rules = parse(RULES)
plan = Plan(rules)
order = plan.order()
finish = costs(order, {"core": 8, "ui": 5})
assert finish["app"] == 18
