"""Three box offices sell seats for the same evening."""

import asyncio


class Store:
    """Stands for a database: each question takes a turn of the loop."""

    def __init__(self, **values):
        self._values = values

    async def read(self, key):
        await asyncio.sleep(0)
        return self._values[key]

    async def write(self, key, value):
        await asyncio.sleep(0)
        self._values[key] = value


class BoxOffice:
    def __init__(self, name, store):
        self.name = name
        self.store = store
        self.sold = 0
        self.turned_away = 0

    async def sell(self, seats):
        free = await self.store.read("free")  # CAUSE
        if seats > free:
            self.turned_away += 1
            return False
        await self.store.write("free", free - seats)  # CAUSE
        self.sold += seats
        return True

    async def serve(self, queue):
        for seats in queue:
            await self.sell(seats)


async def evening():
    store = Store(free=30, hall="great")
    offices = [BoxOffice(name, store) for name in ("main", "side", "online")]
    queues = [[2, 4], [1, 2], [3, 2]]
    await asyncio.gather(*(office.serve(queue) for office, queue in zip(offices, queues)))
    free = await store.read("free")
    return sum(office.sold for office in offices), free


sold, free = asyncio.run(evening())
print("sold", sold)
assert free == 30 - sold
