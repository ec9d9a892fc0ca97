"""Sets the song list of a choir's concert in columns over several pages."""

SONGS = [
    ("Dawn", 3), ("The Ferryman", 4), ("Hay Moon", 2), ("Low Bells", 5),
    ("Rowan", 3), ("Seven Oars", 4), ("The Weaver", 6), ("Still Water", 3),
    ("Lantern Song", 4), ("North Wind", 2), ("Old Mill", 3), ("Apples", 2),
    ("Cradle", 5), ("Winter Road", 4), ("Last Sheaf", 3), ("Harbour", 4),
    ("Candle", 2),
]
PER_PAGE = 5


class Page:
    def __init__(self, number, songs):
        self.number = number
        self.songs = songs

    def minutes(self):
        return sum(minutes for _, minutes in self.songs)

    def lines(self, width=20):
        yield f"Page {self.number}".center(width)
        for title, minutes in self.songs:
            yield f"{title:.<{width - 4}}{minutes:.>4}"
        yield ""


def page_count(songs, size):
    return len(songs) // size  # CAUSE


def paginate(songs, size=PER_PAGE):
    pages = []
    for number in range(page_count(songs, size)):
        start = number * size
        pages.append(Page(number + 1, songs[start:start + size]))
    return pages


def pauses(pages):
    return 2 * (len(pages) - 1)


def duration(pages):
    return sum(page.minutes() for page in pages) + pauses(pages)


def index(pages):
    where = {}
    for page in pages:
        for title, _ in page.songs:
            where[title] = page.number
    return where


pages = paginate(SONGS)
for page in pages:
    print("\n".join(page.lines()))
where = index(pages)
print("minutes", duration(pages))
for title, _ in SONGS:
    assert title in where, f"{title} is on no page"
