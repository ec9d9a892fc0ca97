class Store:
    def __init__(self, records):
        self._records = list(records)
        self.reads = 0

    def count(self):
        return len(self._records)

    def fetch(self, offset, limit):
        self.reads += 1
        return self._records[offset:offset + limit]


class Pager:
    def __init__(self, store, size):
        if size < 1:
            raise ValueError("page size must be positive")
        self.store = store
        self.size = size

    def page_count(self):
        return self.store.count() // self.size + 1  # CAUSE

    def page(self, number):
        if not 1 <= number <= self.page_count():
            raise IndexError(number)
        return self.store.fetch((number - 1) * self.size, self.size)

    def last(self):
        return self.page(self.page_count())


def make_records(n):
    levels = ["info", "warn", "error"]
    return [{"seq": i, "level": levels[i % 3], "ms": i * 7 % 40} for i in range(n)]


def summarize(page):
    slowest = max(page, key=lambda r: r["ms"])
    levels = {}
    for record in page:
        levels[record["level"]] = levels.get(record["level"], 0) + 1
    return {"slowest": slowest["seq"], "levels": levels}


def footer(pager, number):
    return f"page {number} of {pager.page_count()}"


short = Pager(Store(make_records(23)), 10)
print(footer(short, 1), summarize(short.page(1)))
print(footer(short, 3), summarize(short.last()))

full = Pager(Store(make_records(40)), 10)
tail = full.last()
print(footer(full, 4), len(tail))
summary = summarize(tail)
assert summary["levels"] == {"info": 4, "warn": 3, "error": 3}
