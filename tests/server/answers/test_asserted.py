"""Tests of the operands of a failed assertion in an answer, through a probe with answers of its own."""

from pathlib import Path
from typing import Any

import trio
from trio.testing import MockClock

from tests.server.scene import launch
from trio_debugmcp.dap.profiles.python.code_files import PythonCode
from trio_debugmcp.dap.profiles.python.expressions import PythonExpressions
from trio_debugmcp.server_options import Options
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import FakeAdapter, connect
from trio_debugmcp.testing.fake_adapter import ProbedProfile

READ = [{"name": "order.price", "value": "3"}, {"name": "total", "value": "4"}, {"name": "LIMIT", "value": "x" * 1500}]


class PythonProfile(ProbedProfile):
    code = PythonCode()
    expressions = PythonExpressions()


def raising(tmp_path: Path, kind: str) -> tuple[FakeAdapter, Options]:
    program = tmp_path / "app.py"
    program.write_text("total = 4\nassert order.price == total == LIMIT\n")
    adapter = FakeAdapter()
    adapter.program = str(program)
    adapter.frames = [("main", str(program), 2)]
    adapter.probe = {"operands": {"variables": READ, "total": 3}}

    async def raised(arguments: object) -> Any:
        await trio.lowlevel.checkpoint()
        return {"exceptionId": kind, "description": "assert 3 == 4", "breakMode": "unhandled"}

    adapter.answer("exceptionInfo", raised)
    return adapter, Options(settings=Settings(directory="/", profiles=(PythonProfile(adapter),)))


async def test_an_assertion_that_failed_shows_its_operands_within_bounds(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    adapter, options = raising(tmp_path, "AssertionError")
    async with connect(options=options) as client:
        await launch(client, adapter)
        await adapter.stop("exception")
        stop = await client.call("debug_wait", timeout=5)
        assert stop["operands"] == {"order.price": "3", "total": "4"}
        ((_, asked),) = [each for each in adapter.probed if each[0] == "operands"]
        assert [text for text, _ in asked["wanted"]] == ["order.price", "total", "LIMIT"]
        assert asked["code"] is False


async def test_another_exception_has_no_operands(autojump_clock: MockClock, tmp_path: Path) -> None:
    adapter, options = raising(tmp_path, "ValueError")
    async with connect(options=options) as client:
        await launch(client, adapter)
        await adapter.stop("exception")
        assert "operands" not in await client.call("debug_wait", timeout=5)
        assert "operands" not in [name for name, _ in adapter.probed]
