"""What a page asks by itself while a program runs is not in the story of the calls."""

from trio.testing import MockClock

from tests.server.people.scene import scene


async def test_a_page_that_looks_where_a_program_is_leaves_nothing_on_the_timeline(autojump_clock: MockClock) -> None:
    async with (
        scene() as now,
        now.page() as page,
        now.server.connect(role="observe", name="dashboard") as observer,
    ):
        for client in (page, observer, now.agent):
            await client.call("threads_list", full=True)
        called = [(each["tool"], each["client"]) for each in await now.events("toolStarted", "toolCalled")]
        assert ("threads_list", "agent") in called
        assert ("threads_list", "dashboard") not in called
