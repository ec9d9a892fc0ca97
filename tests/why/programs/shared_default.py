"""The index of a weekly newsletter: which article goes under which label."""

import re
from collections import defaultdict, namedtuple

Article = namedtuple("Article", "title section words")
NOISE = {"the", "and", "for", "with"}


def slug(title):
    words = re.findall(r"[a-z]+", title.lower())
    return "-".join(word for word in words if word not in NOISE)


def labels(article, known=[]):  # CAUSE
    known.append(article.section)
    if article.words > 800:
        known.append("long read")
    return sorted(set(known))


def reading_time(article):
    return max(1, round(article.words / 200))


def build(articles):
    index = defaultdict(list)
    minutes = 0
    for article in articles:
        minutes += reading_time(article)
        for label in labels(article):
            index[label].append(slug(article.title))
    return index, minutes


WEEK = [
    Article("The Derby and the Rain", "sport", 420),
    Article("A Budget for Nobody", "politics", 1250),
    Article("Growing Quinces", "garden", 610),
]

index, minutes = build(WEEK)
print(f"{len(index)} labels, {minutes} minutes")
assert index["long read"] == ["a-budget-nobody"]
