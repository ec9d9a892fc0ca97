"""Fetch a list that a service hands out in pages."""

from math import ceil


class Service:
    """The service's side: at most `size` names a page, the first page is 1."""

    def __init__(self, names, size):
        self.names = names
        self.size = size
        self.calls = 0

    def head(self):
        return {"count": len(self.names), "pages": ceil(len(self.names) / self.size)}

    def page(self, number):
        self.calls += 1
        start = (number - 1) * self.size
        return self.names[start : start + self.size]


def fetch_all(service):
    head = service.head()
    rows = []
    for number in range(1, head["pages"]):  # CAUSE
        rows.extend(service.page(number))
    return rows


def initials(rows):
    return "".join(sorted({row[0] for row in rows}))


def summary(rows):
    longest = max(rows, key=len)
    return {"rows": len(rows), "longest": longest, "initials": initials(rows)}


names = ["ada", "barbara", "edsger", "frances", "grace", "hedy", "joan"]
service = Service(names, size=3)
report = summary(fetch_all(service))
print(report, service.calls)
assert report["initials"] == "abefghj"
