from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import trio
from trio.testing import MockClock

from trio_debugmcp.kept.place import Place
from trio_debugmcp.server.stop_line import keep_stop_line
from trio_debugmcp.testing import FakeAdapter, open_server


async def test_the_line_of_the_stop_is_there_while_the_program_is_stopped(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = FakeAdapter()
    with TemporaryDirectory() as directory:
        monkeypatch.setenv("XDG_RUNTIME_DIR", directory)
        place = Place.of(directory)
        place.make()
        async with open_server(adapter.options()) as server, server.connect() as client, trio.open_nursery() as nursery:
            nursery.start_soon(keep_stop_line, server.app.debugger, place)
            await client.call("debug_launch", program=adapter.program)
            await trio.sleep(1)
            assert place.stop() == "1 Entry at /src/app.py:1 in main"
            await client.call("debug_disconnect")
            await trio.sleep(1)
            assert place.stop() is None
            nursery.cancel_scope.cancel(reason="the test is over")
        assert not [each.name for each in Path(place.directory).iterdir() if each.name.startswith("stop")]
