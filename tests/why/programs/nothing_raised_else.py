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


def fill(box, name, weight):
    try:
        box.put(name, weight)
    except ValueError:
        return "refused"
    else:
        return "put"


box = Box()
assert fill(box, "stone", 50) == "refused"
