"""Count the words of several chapters, one thread for each."""

import threading
from collections import Counter

CHAPTERS = [
    "the whale and the sea",
    "the captain and the mate",
    "a whale a whale",
]


class Tally:
    def __init__(self, parties):
        self.words = 0
        self.chapters = 0
        self.counts = Counter()
        self._lock = threading.Lock()
        self._ready = threading.Barrier(parties)

    def merge(self, counts):
        with self._lock:
            self.counts.update(counts)
            self.chapters += 1

    def add(self, number):
        before = self.words  # CAUSE
        self._ready.wait()
        self.words = before + number  # CAUSE


def count(chapter, tally):
    words = chapter.split()
    tally.merge(Counter(words))
    tally.add(len(words))


def count_all(chapters):
    tally = Tally(len(chapters))
    threads = [threading.Thread(target=count, args=(chapter, tally)) for chapter in chapters]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tally


def share(tally, word):
    return round(100 * tally.counts[word] / tally.words)


tally = count_all(CHAPTERS)
print(tally.chapters, "chapters,", len(tally.counts), "different words")
assert tally.words == sum(tally.counts.values())
