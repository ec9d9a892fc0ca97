import asyncio


class Gateway:
    def __init__(self):
        self.charged = []

    async def charge(self, who, amount):
        await asyncio.sleep(0)
        self.charged.append((who, amount))
        return len(self.charged)


class Box:
    def __init__(self, gateway, tickets, price):
        self.gateway = gateway
        self.tickets = tickets
        self.price = price
        self.receipts = {}

    async def sell(self, who, count):
        left = self.tickets - count
        if left < 0:
            return None
        receipt = await self.gateway.charge(who, count * self.price)
        self.tickets = left  # CAUSE
        self.receipts[who] = receipt
        return receipt

    def revenue(self):
        return sum(amount for _, amount in self.gateway.charged)


async def clerk(box, orders):
    done = []
    for who, count in orders:
        receipt = await box.sell(who, count)
        done.append((who, receipt))
    return done


async def evening():
    box = Box(Gateway(), tickets=50, price=12)
    shifts = [
        [("Ola", 2), ("Pat", 4)],
        [("Quin", 3), ("Rae", 1)],
    ]
    results = await asyncio.gather(*(clerk(box, orders) for orders in shifts))
    return box, [item for part in results for item in part]


box, sold = asyncio.run(evening())
names = sorted(who for who, _ in sold)
print(names, box.revenue(), box.tickets)
assert names == ["Ola", "Pat", "Quin", "Rae"]
assert box.revenue() == 120
assert box.tickets == 40, box.tickets
