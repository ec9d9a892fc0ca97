import asyncio


class Pipeline:
    def __init__(self):
        self.queue = asyncio.Queue(maxsize=2)
        self.results = {}
        self.failed = []

    async def produce(self, jobs):
        for job in jobs:
            await self.queue.put(job)
        await self.queue.put(None)  # CAUSE

    async def work(self, name):
        while True:
            job = await self.queue.get()
            if job is None:
                return name
            try:
                self.results[job] = await self.handle(job)
            except ValueError as error:
                self.failed.append((job, str(error)))

    async def handle(self, job):
        await asyncio.sleep(0)
        if job < 0:
            raise ValueError("negative")
        return job * job


async def main():
    pipeline = Pipeline()
    jobs = [1, 2, -3, 4, 5]
    workers = [asyncio.create_task(pipeline.work(f"w{n}")) for n in range(2)]
    await pipeline.produce(jobs)
    done, waiting = await asyncio.wait(workers, timeout=0.2)
    print(sorted(pipeline.results), pipeline.failed)
    assert not waiting, len(waiting)


asyncio.run(main())
