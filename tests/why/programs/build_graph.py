# ask: order
import re

SPEC = """
app: core ui net
ui: core fonts
net: core tls
tls:
core: base
fonts:
base:
"""

LINE = re.compile(r"^(\w+):\s*(.*)$")


class Target:
    def __init__(self, name, needs):
        self.name = name
        self.needs = needs
        self.state = "new"

    def __repr__(self):
        return f"<{self.name} {self.state}>"


def read(spec):
    targets = {}
    for line in spec.strip().splitlines():
        match = LINE.match(line)
        name, rest = match.groups()
        targets[name] = Target(name, rest.split())
    return targets


def visit(targets, name, out):
    target = targets[name]
    if target.state == "done":
        return
    if target.state == "open":
        raise RuntimeError(f"cycle through {name}")
    target.state = "open"
    out.append(name)  # CAUSE
    for need in target.needs:
        visit(targets, need, out)
    target.state = "done"


def schedule(targets, goal):
    """Names in the order in which they can be built."""
    out = []
    visit(targets, goal, out)
    return out


def cost(order, seconds):
    return sum(seconds.get(name, 1) for name in order)


targets = read(SPEC)
order = schedule(targets, "app")
unused = sorted(set(targets) - set(order))
print("building:", " ".join(order))
print("unused:", unused, "seconds:", cost(order, {"core": 12, "ui": 7}))
