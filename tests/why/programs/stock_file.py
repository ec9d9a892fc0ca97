import csv
import os
import tempfile


class Store:
    def __init__(self, directory):
        self.path = os.path.join(directory, "stock.csv")

    def save(self, rows):
        with open(self.path, "w", newline="") as file:
            writer = csv.writer(file, delimiter=";")
            writer.writerow(["article", "count", "price"])
            for article, (count, price) in sorted(rows.items()):
                writer.writerow([article, price, count])  # CAUSE

    def load(self):
        rows = {}
        with open(self.path, newline="") as file:
            for record in csv.DictReader(file, delimiter=";"):
                rows[record["article"]] = (int(record["count"]), int(record["price"]))
        return rows


def worth(rows):
    return {article: count * price for article, (count, price) in rows.items()}


def low(rows, limit):
    names = []
    for article, (count, _) in rows.items():
        if count < limit:
            names.append(article)
    return names


def main():
    with tempfile.TemporaryDirectory() as directory:
        store = Store(directory)
        store.save({"bolt": (900, 3), "lamp": (4, 250), "rope": (35, 60)})
        rows = store.load()
    print(worth(rows))
    short = low(rows, 10)
    assert short == ["lamp"], short


main()
