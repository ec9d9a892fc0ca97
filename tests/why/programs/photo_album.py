"""Puts captions and photo files of a walking club's album together."""

FILES = [
    "summit.jpg", "bridge.jpg", "hut.jpg", "camp.jpg", "fog.jpg",
    "lunch.jpg", "river.jpg", "signpost.jpg", "sheep.jpg", "moon.jpg",
]
CAPTIONS = """\
summit=At the top, finally
bridge=Crossing in the rain
hut=Tea for twelve
camp=Tents by the lake
fog=Where is Jan?
lunch=Bread and more bread
river=Wet boots
signpost=Seven kilometres to go
sheep=The audience
moon=Night walk
"""


def parse_captions(text):
    captions = {}
    for line in text.splitlines():
        key, caption = line.split("=", 1)
        captions[key.strip()] = caption
    return captions


def stem(name):
    return name.rstrip(".jpg")  # CAUSE


class Page:
    def __init__(self, number):
        self.number = number
        self.photos = []

    def add(self, name, caption):
        self.photos.append((name, caption))

    def render(self):
        rows = [f"--- page {self.number}"]
        rows += [f"[{name}] {caption}" for name, caption in self.photos]
        return "\n".join(rows)


def chunks(items, size):
    for start in range(0, len(items), size):
        yield items[start:start + size]


def album(files, captions, per_page=3):
    pages = []
    for number, names in enumerate(chunks(files, per_page), 1):
        page = Page(number)
        for name in names:
            page.add(name, captions[stem(name)])
        pages.append(page)
    return pages


captions = parse_captions(CAPTIONS)
longest = max(captions.values(), key=len)
print("longest caption:", longest)
pages = album(FILES, captions)
for page in pages:
    print(page.render())
assert len(pages) == 4
