"""A mesh with a cached area."""


class Polygon:
    def __init__(self, points):
        self._points = list(points)
        self._area = None

    @property
    def points(self):
        return self._points

    @points.setter
    def points(self, points):
        self._points = list(points)
        self._area = None

    @property
    def area(self):
        if self._area is None:
            self._area = self.measure()
        return self._area

    def measure(self):
        total = 0
        count = len(self._points)
        for place in range(count):
            x1, y1 = self._points[place]
            x2, y2 = self._points[(place + 1) % count]
            total += x1 * y2 - x2 * y1
        return abs(total) / 2


class Editor:
    def __init__(self):
        self.shapes = {}
        self.log = []

    def draw(self, name, points):
        self.shapes[name] = Polygon(points)

    def scale(self, name, factor):
        shape = self.shapes[name]
        for place, (x, y) in enumerate(shape.points):
            shape.points[place] = (x * factor, y * factor)  # CAUSE
        self.log.append(("scale", name))

    def move(self, name, dx, dy):
        shape = self.shapes[name]
        shape.points = [(x + dx, y + dy) for x, y in shape.points]
        self.log.append(("move", name))

    def total(self):
        return sum(shape.area for shape in self.shapes.values())


editor = Editor()
editor.draw("a", [(0, 0), (2, 0), (2, 2), (0, 2)])
editor.draw("b", [(0, 0), (4, 0), (0, 2)])
assert editor.total() == 8
editor.move("b", 1, 1)
editor.scale("a", 3)
assert editor.total() == 40
