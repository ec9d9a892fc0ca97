"""Freight quotes over a small road network."""
import heapq


# --- network ---------------------------------------------------------------
class Roads:
    def __init__(self):
        self.edges = {}

    def link(self, a, b, km):
        self.edges.setdefault(a, {})[b] = km
        self.edges.setdefault(b, {})[a] = km

    def shortest(self, start, goal):
        seen = set()
        queue = [(0, start)]
        while queue:
            km, town = heapq.heappop(queue)
            if town == goal:
                return km
            if town in seen:
                continue
            seen.add(town)
            for near, more in self.edges.get(town, {}).items():
                heapq.heappush(queue, (km + more, near))
        raise LookupError(goal)


# --- quotes ----------------------------------------------------------------
class Quotes:
    def __init__(self, roads, per_km):
        self.roads = roads
        self.per_km = per_km
        self._known = {}

    def distance(self, a, b):
        key = tuple(sorted((a, b)))
        if key in self._known:  # CAUSE
            self._known[key] = self.roads.shortest(a, b)
        return self._known[key]

    def open_road(self, a, b, km):
        self.roads.link(a, b, km)
        self._known.clear()

    def price(self, a, b, tons):
        base = self.distance(a, b) * self.per_km
        return base * tons + surcharge(tons)


def surcharge(tons):
    return 50 if tons > 10 else 0


# --- day -------------------------------------------------------------------
def network():
    roads = Roads()
    for a, b, km in [("Alm", "Bro", 40), ("Bro", "Cal", 30), ("Cal", "Dun", 25)]:
        roads.link(a, b, km)
    return roads


def offers(quotes, wanted):
    return [quotes.price(a, b, tons) for a, b, tons in wanted]


quotes = Quotes(network(), per_km=2)
WANTED = [("Alm", "Dun", 3), ("Bro", "Dun", 12), ("Dun", "Alm", 1)]
before = offers(quotes, WANTED)
assert before == [570, 1370, 190]
quotes.open_road("Alm", "Dun", 60)
after = offers(quotes, WANTED)
gain = [old - new for old, new in zip(before, after)]
print("gain per order:", gain)
assert gain == [210, 0, 70], gain
