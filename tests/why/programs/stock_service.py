"""A shop with an asynchronous stock service."""

import asyncio


class StockService:
    def __init__(self, levels):
        self.levels = dict(levels)
        self.calls = 0

    async def level(self, item):
        self.calls += 1
        await asyncio.sleep(0)
        return self.levels.get(item, 0)

    async def available(self, item, count):
        return await self.level(item) >= count

    async def take(self, item, count):
        await asyncio.sleep(0)
        self.levels[item] = self.levels.get(item, 0) - count


class Shop:
    def __init__(self, stock):
        self.stock = stock
        self.orders = []
        self.backlog = []

    async def order(self, customer, item, count):
        if self.stock.available(item, count):  # CAUSE
            await self.stock.take(item, count)
            self.orders.append((customer, item, count))
            return "sent"
        self.backlog.append((customer, item, count))
        return "waiting"

    async def restock(self, item, count):
        await self.stock.take(item, -count)


async def day():
    stock = StockService({"tea": 5, "jam": 1})
    shop = Shop(stock)
    states = []
    for customer, item, count in [("ann", "tea", 3), ("bob", "tea", 2), ("cid", "jam", 2)]:
        states.append(await shop.order(customer, item, count))
    await shop.restock("tea", 4)
    return shop, states


shop, states = asyncio.run(day())
assert min(shop.stock.levels.values()) >= 0
