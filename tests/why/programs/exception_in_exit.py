"""Move parts between shelves; a move that fails half way is taken back."""


class OutOfStock(Exception):
    pass


class Shelf:
    def __init__(self, **parts):
        self.parts = dict(parts)

    def take(self, part, number):
        if self.parts.get(part, 0) < number:
            raise OutOfStock(f"{number} x {part}")
        self.parts[part] -= number
        if not self.parts[part]:
            del self.parts[part]

    def put(self, part, number):
        self.parts[part] = self.parts.get(part, 0) + number


class Move:
    def __init__(self):
        self._steps = []

    def __enter__(self):
        return self

    def step(self, action, back):
        action()
        self._steps.append(back)

    def __exit__(self, kind, error, trace):
        if kind is not None:
            for back in self._steps:  # CAUSE
                back()
        return False


def transfer(source, target, part, number):
    with Move() as move:
        move.step(lambda: target.put(part, number), lambda: target.take(part, number))
        move.step(lambda: target.put("box", 1), lambda: target.parts.pop("box"))
        move.step(lambda: target.put("label", target.parts["box"]), lambda: target.take("label", target.parts["box"]))
        move.step(lambda: source.take(part, number), lambda: source.put(part, number))


left = Shelf(screw=40, nut=12)
right = Shelf(screw=5)
for part, number in [("screw", 30), ("nut", 20)]:
    right.parts.pop("box", None)
    try:
        transfer(left, right, part, number)
    except OutOfStock as error:
        print("not moved:", error)
print(left.parts, right.parts)
