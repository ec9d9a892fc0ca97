import pytest
import trio
from trio.testing import MockClock

from trio_debugmcp.session.adoptions import Adoptions


async def test_it_is_settled_when_the_last_child_is_adopted(autojump_clock: MockClock) -> None:
    adoptions = Adoptions()

    async def adopt(seconds: float) -> None:
        with adoptions.one():
            await trio.sleep(seconds)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(adopt, 1)
        nursery.start_soon(adopt, 3)
        start = trio.current_time()
        await adoptions.settled()
        assert trio.current_time() - start == pytest.approx(3)
    await adoptions.settled()
