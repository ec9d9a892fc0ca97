"""Jobs that may run at the same time only up to a limit."""

import asyncio


class Limiter:
    def __init__(self, limit):
        self.limit = limit
        self.active = 0
        self.peak = 0

    async def __aenter__(self):
        while self.active > self.limit:  # CAUSE
            await asyncio.sleep(0)
        self.active += 1
        self.peak = max(self.peak, self.active)

    async def __aexit__(self, *exc):
        self.active -= 1


async def work(limiter, results, n):
    async with limiter:
        await asyncio.sleep(0)
        results[n] = n * n


async def run_all(count, limit):
    limiter = Limiter(limit)
    results = {}
    await asyncio.gather(*(work(limiter, results, n) for n in range(count)))
    return limiter, results

limiter, results = asyncio.run(run_all(6, 2))
assert results == {n: n * n for n in range(6)}
assert limiter.peak <= 2, limiter.peak
