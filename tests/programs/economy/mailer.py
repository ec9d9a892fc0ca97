"""Letters are sent at the same time: the report comes before they have arrived."""

import asyncio

sent = {}


async def deliver(to):
    await asyncio.sleep(0.01)
    sent[to] = "delivered"


async def send(people):
    letters = [asyncio.create_task(deliver(each)) for each in people]
    return len(letters)


async def main():
    started = await send(["ann", "ben", "eve"])
    arrived = len(sent)
    print(started, "letters,", arrived, "delivered")


asyncio.run(main())
