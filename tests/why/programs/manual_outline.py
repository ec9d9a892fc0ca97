"""Outline of a machine's manual, with lists of its figures and warnings."""


class Section:
    def __init__(self, title, marks=(), parts=()):
        self.title = title
        self.marks = list(marks)
        self.parts = list(parts)

    def __repr__(self):
        return f"Section({self.title!r})"


MANUAL = Section("Press", [], [
    Section("Setting up", ["figure"], [
        Section("Unpacking", ["warning"]),
        Section("Levelling", ["figure"]),
    ]),
    Section("Running", [], [
        Section("Start", ["warning", "figure"]),
        Section("Feed", []),
        Section("Stop", ["warning"]),
    ]),
    Section("Care", ["figure"], [
        Section("Oil", []),
        Section("Belts", ["warning", "figure"]),
    ]),
])


# --- walks -----------------------------------------------------------------
def marked(section, mark, found=[]):  # CAUSE
    if mark in section.marks:
        found.append(section.title)
    for part in section.parts:
        marked(part, mark, found)
    return found


def depth(section):
    return 1 + max((depth(part) for part in section.parts), default=0)


def numbered(section, number=""):
    yield number, section.title
    for place, part in enumerate(section.parts, 1):
        inner = f"{number}.{place}" if number else str(place)
        yield from numbered(part, inner)


# --- pages -----------------------------------------------------------------
def contents(manual):
    rows = []
    for number, title in numbered(manual):
        rows.append(f"{number:<6}{title}")
    return rows


def index_page(manual, mark):
    titles = marked(manual, mark)
    return [f"{place}. {title}" for place, title in enumerate(titles, 1)]


print("\n".join(contents(MANUAL)))
pages = {}
for mark in ("figure", "warning"):
    pages[mark] = index_page(MANUAL, mark)
    print(mark, len(pages[mark]))
assert depth(MANUAL) == 3
assert len(pages["figure"]) == 5
assert len(pages["warning"]) == 4, pages["warning"]
