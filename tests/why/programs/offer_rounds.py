# ask: offers["North"]
"""Asks several depots for their offers at the same time and takes the best."""
import asyncio

DEPOTS = {
    "North": (410, 5),
    "Quay": (395, 2),
    "Mill": (450, 1),
    "Ring": (380, 7),
    "Field": (405, 3),
    "Tower": (399, 4),
}


class Depot:
    def __init__(self, name, price, turns):
        self.name = name
        self.price = price
        self.turns = turns
        self.asked = 0

    async def offer(self, tons):
        self.asked += 1
        for _ in range(self.turns):
            await asyncio.sleep(0)
        return self.price * tons


def depots():
    return [Depot(name, *row) for name, row in DEPOTS.items()]


async def ask_all(places, tons):
    tasks = [asyncio.create_task(place.offer(tons)) for place in places]
    offers = {}
    for place, answer in zip(places, asyncio.as_completed(tasks)):  # CAUSE
        offers[place.name] = await answer
    return offers


def cheapest(offers):
    return min(offers, key=offers.get)


def per_ton(offers, tons):
    return {name: euros // tons for name, euros in offers.items()}


async def main(tons):
    places = depots()
    offers = await ask_all(places, tons)
    asked = sum(place.asked for place in places)
    return offers, asked


offers, asked = asyncio.run(main(12))
rates = per_ton(offers, 12)
for name in sorted(rates, key=rates.get):
    print(f"{name:<7}{rates[name]:>5}{offers[name]:>7}")
print("asked", asked, "take", cheapest(offers))
