"""Two counters sell from one allotment."""
import asyncio


# --- ledger ----------------------------------------------------------------
class Journal:
    def __init__(self):
        self.entries = []

    async def note(self, who, count):
        await asyncio.sleep(0)
        self.entries.append((who, count))

    def by(self, who):
        return sum(count for name, count in self.entries if name == who)


class Allotment:
    def __init__(self, total, journal):
        self.total = total
        self.left = total
        self.journal = journal

    async def sell(self, who, count):
        left = self.left  # CAUSE
        if count > left:
            raise ValueError("sold out")
        await self.journal.note(who, count)
        self.left = left - count  # CAUSE
        return count


# --- counters --------------------------------------------------------------
class Counter:
    def __init__(self, name, orders):
        self.name = name
        self.orders = orders
        self.takings = 0

    async def work(self, allotment, price):
        for count in self.orders:
            sold = await allotment.sell(self.name, count)
            self.takings += sold * price
        return self.takings


async def evening(total):
    journal = Journal()
    allotment = Allotment(total, journal)
    north = Counter("north", [2, 3, 1])
    south = Counter("south", [4, 2])
    takings = await asyncio.gather(
        north.work(allotment, 10),
        south.work(allotment, 12),
    )
    return allotment, journal, takings


# --- closing ---------------------------------------------------------------
def summary(journal, takings):
    names = sorted({name for name, _ in journal.entries})
    parts = [f"{name}:{journal.by(name)}" for name in names]
    return ", ".join(parts) + f" = {sum(takings)}"


def main():
    allotment, journal, takings = asyncio.run(evening(40))
    print(summary(journal, takings))
    assert takings == [60, 72]
    sold = sum(count for _, count in journal.entries)
    assert sold == 12
    assert allotment.left == allotment.total - sold, allotment.left


main()
