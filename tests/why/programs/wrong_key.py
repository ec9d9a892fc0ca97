"""The value of a stock list as exported by the till."""

import csv
import io

EXPORT = """\
Article,Unit Price,On Hand
tea,3.20,12
coffee,7.45,4
sugar,1.10,30
"""


def column(title):
    return title.strip().lower()  # CAUSE


def load(text):
    reader = csv.reader(io.StringIO(text))
    columns = [column(title) for title in next(reader)]
    articles = {}
    for cells in reader:
        record = dict(zip(columns, cells))
        articles[record.pop("article")] = record
    return articles


def to_cents(text):
    euros, _, cents = text.partition(".")
    return int(euros) * 100 + int(cents or 0)


def value(articles):
    cents = 0
    for record in articles.values():
        cents += to_cents(record["unit_price"]) * int(record["on_hand"])
    return cents


articles = load(EXPORT)
print(len(articles), "articles")
print("worth", value(articles))
