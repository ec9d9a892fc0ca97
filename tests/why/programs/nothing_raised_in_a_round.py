LIMIT = 10


class Box:
    def __init__(self):
        self.items = []

    def put(self, name, weight):
        self.check(weight)
        self.items.append((name, weight))

    def check(self, weight):
        if weight > LIMIT * 10:  # CAUSE
            raise ValueError("too heavy")


box = Box()
refused = []
for name, weight in [("pen", 1), ("stone", 50), ("tree", 300)]:
    try:
        box.put(name, weight)
    except ValueError:
        refused.append(name)
assert refused == ["stone", "tree"]
