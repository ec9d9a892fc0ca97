"""Breakpoints of an adapter that begins anew to number them once it has the program, as js-debug does."""

from itertools import count
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.session.tables import launched
from trio_debugmcp.testing import FakeAdapter

ANEW = "numbers-anew = true"


class Anew(FakeAdapter):
    """An adapter that numbers from 1 on until it is configured, and from 1 on again.

    Each breakpoint of a request takes a number, and one that is there keeps its own. A request without news is answered
    with an empty list.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ids: dict[str, dict[int, int]] = {}
        self._numbers = count(1)
        self.on_request = self._see
        self.answer("setBreakpoints", self._set)

    def _see(self, command: str, arguments: Any) -> None:
        if command == "configurationDone":
            self._numbers = count(1)

    async def _set(self, arguments: Any) -> Any:
        file = arguments["source"]["path"]
        had = self.ids.get(file, {})
        given = [(each["line"], next(self._numbers)) for each in arguments["breakpoints"]]
        self.ids[file] = {line: had.get(line, number) for line, number in given}
        if self.ids[file] == had:
            return {"breakpoints": []}
        return {"breakpoints": [{"id": id_, "verified": True, "line": at} for at, id_ in self.ids[file].items()]}


@pytest.mark.parametrize("launch", [[2], [2, 7, 9], [1, 12]])
@pytest.mark.parametrize("others", [[], [3, 5]])
async def test_a_breakpoint_set_in_a_session_has_no_id_of_one_from_its_launch(
    autojump_clock: MockClock, launch: list[int], others: list[int], tmp_path: Any
) -> None:
    adapter, other = Anew(), tmp_path / "other.py"
    other.write_text("pass\n" * 10)
    wanted = [{"file": adapter.program, "line": line} for line in launch]
    wanted += [{"file": str(other), "line": line} for line in others]
    async with launched(ANEW, adapter, breakpoints=wanted) as client:
        for file, line in ((__file__, 9), (adapter.program, 15), (adapter.program, 6)):
            made = await client.call("breakpoint_set", file=file, line=line)
            ids = [id_ for lines in adapter.ids.values() for id_ in lines.values()]
            assert len(set(ids)) == len(ids)
            adapter.frames = [("f", file, line)]
            await adapter.stop("breakpoint", hit=[adapter.ids[file][line]])
            await trio.sleep(1)
            stop = await client.call("debug_state")
            assert stop["breakpoints"] == [made["id"]]
        assert not any("moved" in each for each in (await client.call("breakpoint_list"))["breakpoints"])


async def test_ids_are_taken_once_and_not_for_an_adapter_that_numbers_on(autojump_clock: MockClock) -> None:
    wanted = [{"file": __file__, "line": 2}]
    for lines, sent in ((ANEW, [[2], [2], [2, 4], [2, 4, 5]]), ("", [[2], [2, 4], [2, 4, 5]])):
        async with launched(lines, adapter := Anew(), breakpoints=wanted) as client:
            for line in (4, 5):
                await client.call("breakpoint_set", file=__file__, line=line)
            requests = adapter.sent("setBreakpoints")
            assert [[each["line"] for each in request["breakpoints"]] for request in requests] == sent
