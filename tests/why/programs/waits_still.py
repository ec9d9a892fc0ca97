import asyncio


class Gate:
    def __init__(self, seats):
        self.seats = seats
        self.taken = 0
        self.full = asyncio.Event()

    def enter(self):
        self.taken += 1
        if self.taken > self.seats:  # CAUSE
            self.full.set()


async def close(gate):
    await gate.full.wait()
    return "closed"


async def main():
    gate = Gate(3)
    closing = asyncio.create_task(close(gate))
    for _ in range(3):
        gate.enter()
        await asyncio.sleep(0)
    return await asyncio.wait_for(closing, 0.2)


print(asyncio.run(main()))
