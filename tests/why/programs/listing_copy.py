"""Pages of a listing, as a client sees them."""


class Listing:
    def __init__(self, items, size):
        self.items = items
        self.size = size

    def pages(self):
        return (len(self.items) + self.size - 1) // self.size

    def page(self, number):
        if not 1 <= number <= self.pages():
            raise IndexError(number)
        start = (number - 1) * self.size
        return self.items[start : start + self.size]

    def answer(self, number):
        return {
            "items": self.page(number),
            "page": number,
            "more": number < self.pages() - 1,  # CAUSE
        }


class Client:
    def __init__(self, listing):
        self.listing = listing
        self.requests = 0

    def get(self, number):
        self.requests += 1
        return self.listing.answer(number)

    def all(self):
        number = 1
        while True:
            answer = self.get(number)
            yield from answer["items"]
            if not answer["more"]:
                break
            number += 1


def names(count):
    return [f"item{number:02}" for number in range(count)]


def copy_all(count, size):
    client = Client(Listing(names(count), size))
    copied = []
    for item in client.all():
        copied.append(item.upper())
    return client, copied


client, copied = copy_all(23, 5)
assert copied[0] == "ITEM00"
assert len(copied) == 23
