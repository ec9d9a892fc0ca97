"""A one-row peg game: pegs jump over a neighbour; moves can be taken back."""

START = "ooo.oo.o"


class Board:
    def __init__(self, text):
        self.holes = list(text)
        self.history = []

    def __str__(self):
        return "".join(self.holes)

    def pegs(self):
        return self.holes.count("o")

    def legal(self):
        size = len(self.holes)
        for place in range(size):
            for step in (-2, 2):
                goal = place + step
                if not 0 <= goal < size:
                    continue
                middle = place + step // 2
                cells = self.holes[place], self.holes[middle], self.holes[goal]
                if cells == ("o", "o", "."):
                    yield place, goal

    def jump(self, place, goal):
        self.history.append(self.holes)  # CAUSE
        middle = (place + goal) // 2
        self.holes[place] = self.holes[middle] = "."
        self.holes[goal] = "o"

    def undo(self):
        self.holes = self.history.pop()


# --- search ----------------------------------------------------------------
class Search:
    def __init__(self, board):
        self.board = board
        self.best = board.pegs()
        self.seen = 0

    def run(self):
        self.seen += 1
        self.best = min(self.best, self.board.pegs())
        for place, goal in list(self.board.legal()):
            self.board.jump(place, goal)
            self.run()
            self.board.undo()


board = Board(START)
search = Search(board)
search.run()
print("positions", search.seen, "fewest pegs", search.best)
print("board", board)
assert not board.history
assert str(board) == START, str(board)
