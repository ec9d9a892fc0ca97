"""A small drawing board with undo."""


class Board:
    def __init__(self, width, height):
        self.rows = [["."] * width for _ in range(height)]
        self._before = []
        self.strokes = 0

    def _remember(self):
        self._before.append(list(self.rows))  # CAUSE

    def draw(self, points, ink="#"):
        self._remember()
        for x, y in points:
            self.rows[y][x] = ink
        self.strokes += 1

    def undo(self):
        if self._before:
            self.rows = self._before.pop()
            self.strokes -= 1

    def text(self):
        return "\n".join("".join(row) for row in self.rows)


def line(start, length, across=True):
    x, y = start
    for step in range(length):
        yield (x + step, y) if across else (x, y + step)


def inked(board):
    return sum(cell != "." for row in board.rows for cell in row)


board = Board(6, 4)
board.draw(line((0, 0), 4))
board.draw(line((5, 0), 4, across=False), ink="o")
print(board.text())
board.undo()
print("after undo:", board.strokes)
assert inked(board) == 4
