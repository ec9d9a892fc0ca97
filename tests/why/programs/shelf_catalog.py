"""Shop front: shelves are loaded once and kept for the session."""
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Item:
    sku: str
    price: int
    tags: tuple = ()


SOURCE = {
    "garden": [Item("G1", 1200, ("new",)), Item("G2", 300)],
    "kitchen": [Item("K1", 4500), Item("K2", 999, ("new",)), Item("K3", 150)],
    "office": [Item("O1", 250)],
}


# --- storage ---------------------------------------------------------------
@dataclass
class ShelfStore:
    loads: int = 0
    hits: int = 0
    shelves: dict = field(default_factory=dict)

    def shelf(self, name):
        if name in self.shelves:
            self.hits += 1
            return self.shelves[name]
        self.loads += 1
        found = sorted(SOURCE.get(name, []), key=lambda i: i.price)
        self.shelves[name] = found
        return found

    def publish(self, name, alias):
        self.shelves[alias] = self.shelf(name)  # CAUSE

    def put(self, name, item):
        shelf = self.shelf(name)
        if item not in shelf:
            shelf.append(item)


# --- formatting ------------------------------------------------------------
def money(cents):
    return f"{cents // 100}.{cents % 100:02d}"


def label(item):
    star = "*" if "new" in item.tags else " "
    return f"{star}{item.sku:<4}{money(item.price):>8}"


def poster(title, items):
    return "\n".join([title.upper(), "-" * 13, *map(label, items)])


# --- session ---------------------------------------------------------------
def open_shop(store):
    for name in ("garden", "kitchen"):
        store.shelf(name)
    store.publish("kitchen", "window")
    return [len(s) for s in store.shelves.values()]


def take_delivery(store, crates):
    for name, sku, price in crates:
        store.put(name, Item(sku, price))
    return len(crates)


store = ShelfStore()
sizes = open_shop(store)
arrived = take_delivery(store, [("kitchen", "K9", 7000), ("office", "O2", 80)])
print(poster("window", store.shelf("window")))
stocked = sum(len(store.shelf(n)) for n in ("garden", "kitchen", "office"))
assert stocked == 6 + arrived
displayed = [i.sku for i in store.shelf("window")]
assert displayed == ["K3", "K2", "K1"], displayed
