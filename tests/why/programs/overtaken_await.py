"""A search field: what the user types is looked up while they go on typing."""

import asyncio

BOOKS = ["Python in a Nutshell", "Pyramids", "Fluent Python", "Python Cookbook", "Pygmalion"]


class Catalogue:
    """Answers a query; short ones match more and take longer."""

    def __init__(self, books):
        self.books = books
        self.queries = []

    async def search(self, text):
        self.queries.append(text)
        for _ in range(20 - 3 * len(text)):
            await asyncio.sleep(0)
        return [book for book in self.books if text.lower() in book.lower()]


class SearchField:
    def __init__(self, catalogue):
        self.catalogue = catalogue
        self.text = ""
        self.hits = []
        self.lookups = set()

    def type(self, letters):
        self.text += letters
        lookup = asyncio.create_task(self.refresh(self.text))
        self.lookups.add(lookup)
        lookup.add_done_callback(self.lookups.discard)

    async def refresh(self, text):
        hits = await self.catalogue.search(text)
        self.hits = hits  # CAUSE

    async def settled(self):
        while self.lookups:
            await asyncio.gather(*self.lookups)


async def main():
    field = SearchField(Catalogue(BOOKS))
    for letters in ("Py", "th", "on"):
        field.type(letters)
        await asyncio.sleep(0)
    await field.settled()
    print(field.text, field.catalogue.queries)
    return field


field = asyncio.run(main())
assert len(field.hits) == 3
