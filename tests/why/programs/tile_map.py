"""Draws the map of a board game from its list of tiles."""

TILES = """\
0,0 water
1,0 sand
2,0 sand
3,0 wood
4,0 wood
0,1 water
1,1 town
2,1 field
3,1 field
4,1 rock
0,2 sand
1,2 field
3,2 rock
4,2 rock
"""
SIGNS = {"water": "~", "sand": ".", "wood": "^", "town": "#",
         "field": "=", "rock": "A"}


def parse(text):
    tiles = {}
    for line in text.splitlines():
        place, kind = line.split()
        x, y = map(int, place.split(","))
        tiles[x, y] = kind
    return tiles


def extent(tiles):
    """Width and height of the map."""
    width = 1 + max(x for x, _ in tiles)
    height = 1 + max(y for _, y in tiles)
    return width, height


class Canvas:
    def __init__(self, columns, rows, blank=" "):
        self.columns = columns
        self.rows = rows
        self.cells = [[blank] * columns for _ in range(rows)]

    def put(self, x, y, sign):
        self.cells[y][x] = sign

    def lines(self):
        return ["".join(row) for row in self.cells]


def neighbours(tiles, x, y):
    around = ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1))
    return [tiles[place] for place in around if place in tiles]


def draw(tiles):
    rows, columns = extent(tiles)  # CAUSE
    canvas = Canvas(columns, rows)
    for (x, y), kind in tiles.items():
        canvas.put(x, y, SIGNS[kind])
    return canvas


tiles = parse(TILES)
town = next(place for place, kind in tiles.items() if kind == "town")
print("around the town:", neighbours(tiles, *town))
canvas = draw(tiles)
print("\n".join(canvas.lines()))
assert canvas.lines()[1] == "~#==A"
