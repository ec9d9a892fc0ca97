"""`observe_link`: control gets the link with which others watch; no other client does, and nothing records it."""

from trio.testing import MockClock

from tests.server.scene import failure
from trio_debugmcp.app import Options
from trio_debugmcp.server.auth import Tokens
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import open_server

TOKENS = Tokens("control-token-of-the-test", "observe-token-of-the-test")
SHARED = Options(settings=Settings(observer_token=TOKENS.observer))
ORIGIN = "http://192.0.2.7:8765"


async def test_control_gets_the_link_of_observers_and_its_picture(autojump_clock: MockClock) -> None:
    async with open_server(SHARED) as server, server.connect() as client:
        answer = await client.call("observe_link", origin=ORIGIN)
        assert answer["url"] == f"{ORIGIN}/#token={TOKENS.observe}"
        rows = answer["qr"].split("/")
        size = len(rows) - 8  # four quiet modules at each side
        assert {len(each) for each in rows} == {len(rows)}
        assert (size - 17) % 4 == 0
        assert [*map(set, rows[:4])] == [{"0"}] * 4
        finder = [row[4:11] for row in rows[4:11]]
        assert finder == ["1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"]
        assert TOKENS.control not in str(answer)


async def test_neither_the_timeline_nor_a_representation_has_the_token(autojump_clock: MockClock) -> None:
    async with open_server(SHARED) as server, server.connect() as client:
        await client.call("observe_link", origin=ORIGIN)
        events = await client.call("timeline_query")
        assert "observe_link" not in str(events)
        assert TOKENS.observe not in f"{events} {SHARED!r}"


async def test_an_observer_does_not_get_it_and_it_is_in_no_list(autojump_clock: MockClock) -> None:
    async with open_server(SHARED) as server, server.connect(role="observe") as observer, server.connect() as client:
        assert (await failure(observer, "observe_link", origin=ORIGIN)).code == "READ_ONLY"
        assert "observe_link" not in {each.name for each in (await client.sdk.list_tools()).tools}


async def test_a_link_is_of_a_page_only(autojump_clock: MockClock) -> None:
    async with open_server(SHARED) as server, server.connect() as client:
        for wrong in ("javascript:alert(1)", f"{ORIGIN}/path", "http://a b", "//host", "http://h#x"):
            assert (await failure(client, "observe_link", origin=wrong)).code == "INVALID_PARAMETER", wrong
    async with open_server(Options()) as server, server.connect() as client:
        assert (await failure(client, "observe_link", origin=ORIGIN)).code == "NOT_SUPPORTED"
