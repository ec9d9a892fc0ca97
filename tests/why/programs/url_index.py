"""Counts visits per site and keeps the referrers of each."""
from collections import Counter, defaultdict
from urllib.parse import urlsplit

LOG = """
https://www.example.org/start 200
http://example.org/about?x=1 200
https://www.weather.net/today 200
http://weather.net/ 304
https://shop.example.org/cart 500
https://weather.net/week 200
https://www.example.org/about 200
"""


def site_of(url):
    host = urlsplit(url).hostname or ""
    return host.lower().lstrip("www.")  # CAUSE


def page_of(url):
    path = urlsplit(url).path
    return path.rstrip("/") or "/"


class Visits:
    def __init__(self):
        self.hits = Counter()
        self.pages = defaultdict(set)
        self.failures = []

    def record(self, url, status):
        if status >= 500:
            self.failures.append(url)
            return
        site = site_of(url)
        self.hits[site] += 1
        self.pages[site].add(page_of(url))

    def top(self, n=3):
        return sorted(self.hits.items(), key=lambda item: (-item[1], item[0]))[:n]


def load(text):
    visits = Visits()
    for line in text.strip().splitlines():
        url, status = line.rsplit(" ", 1)
        visits.record(url, int(status))
    return visits


visits = load(LOG)
assert len(visits.failures) == 1
assert visits.hits["example.org"] == 3
assert visits.pages["example.org"] == {"/start", "/about"}
top = visits.top()
assert top == [("example.org", 3), ("weather.net", 3)], top
