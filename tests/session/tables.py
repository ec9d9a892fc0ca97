"""A fake adapter that is understood as the table of a debug adapter says."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from trio_debugmcp.app import Options
from trio_debugmcp.dap.profiles import read_tables
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import DebugClient, FakeAdapter, FakeProfile, connect

_TABLE = """
[adapters.fake]
language = "Fake"
find = ["fake"]
command = ["fake"]
launch = { program = "{program}" }
"""

_LIKE_A_TABLE = ("expressions", "code", "dialect", "words", "values", "thrown", "habits")


class TabledProfile(FakeProfile):
    """The profile of a `FakeAdapter` whose table has these lines besides."""

    def __init__(self, adapter: FakeAdapter, lines: str) -> None:
        super().__init__(adapter)
        (table,) = read_tables(_TABLE + lines, "test")
        for attribute in _LIKE_A_TABLE:
            setattr(self, attribute, getattr(table, attribute))

    def launch_arguments(self, launch: Any) -> dict[str, Any]:
        return {"program": launch.program}  # it is not asked to stop at the entry


@asynccontextmanager
async def launched(lines: str, adapter: FakeAdapter, **arguments: Any) -> AsyncIterator[DebugClient]:
    """A client with a program that runs under an adapter with such a table; it does not stop where it begins."""
    options = Options(settings=Settings(directory="/", profiles=(TabledProfile(adapter, lines),)))
    async with connect(options=options) as client:
        arguments = {"program": adapter.program, "adapter": "fake", "stop_at_entry": False, "wait": False, **arguments}
        await client.call("debug_launch", **arguments)
        yield client
