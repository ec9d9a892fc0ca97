"""The adapter of a table, opened as its table says, with a real process."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio

from trio_debugmcp.dap.process import Watchdog
from trio_debugmcp.dap.profiles.opening import attach_values, launch_values, open_adapter
from trio_debugmcp.dap.profiles.starts import Attach, Launch
from trio_debugmcp.dap.profiles.tables.table_format import Table

ADAPTER = """
import os, socket, sys
where = sys.argv[1]
if where.isdigit():
    listener = socket.create_server(("127.0.0.1", int(where)))
else:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(where)
    listener.listen()
print(f"listening at {listener.getsockname()[1] if where.isdigit() else where}", flush=True)
stream, _ = listener.accept()
stream.sendall(repr((sys.argv[2:], os.getcwd(), os.environ.get("SHOP"))).encode())
stream.recv(1)
"""


def table(**keys: Any) -> Table:
    given = {
        "language": "M",
        "find": ["m"],
        "launch": {},
        "command": [sys.executable, "-c", ADAPTER, "{port}", "{program}", "{args}"],
        **keys,
    }
    return msgspec.convert(given, Table)


@pytest.fixture
def watchdog() -> Iterator[Watchdog]:
    watchdog = Watchdog()
    yield watchdog
    watchdog.close()


async def hello(described: Table, launch: Launch, watchdog: Watchdog) -> tuple[object, ...]:
    with trio.fail_after(120):
        async with open_adapter(described, "m", launch_values(launch), watchdog) as adapter:
            said: tuple[object, ...] = eval(bytes(await adapter.stream.receive_some()))
            return said


@pytest.mark.real
async def test_an_adapter_is_given_a_free_port_and_hostile_arguments_as_they_are(
    watchdog: Watchdog, tmp_path: Path
) -> None:
    hostile = ("two words", "'\"", "a\nb", "{program}", "")
    launch = Launch(program="/x/{args}", args=hostile, cwd=str(tmp_path), env={"SHOP": "{cwd}"})
    given = table(transport={"given": "{port}"})
    assert await hello(given, launch, watchdog) == (["/x/{args}", *hostile], str(Path.cwd()), None)


@pytest.mark.real
async def test_one_that_is_the_program_runs_in_its_directory_and_environment(
    watchdog: Watchdog, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", ADAPTER, "{socket}", "{stem}"]
    described = table(command=command, transport={"socket": "{socket}"}, **{"is-program": True, "command-cwd": "{cwd}"})
    launch = Launch(program="/x/shop.rb", cwd=str(tmp_path), env={"SHOP": "open"})
    assert await hello(described, launch, watchdog) == (["shop"], str(tmp_path), "open")


@pytest.mark.real
@pytest.mark.parametrize("is_program", [False, True])
async def test_a_variable_that_a_program_is_not_to_get_is_not_in_the_environment_that_it_inherits(
    watchdog: Watchdog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_program: bool
) -> None:
    monkeypatch.setenv("SHOP", "open")
    given = table(transport={"given": "{port}"}, **{"is-program": is_program})
    launch = Launch(program="/x", cwd=str(tmp_path), unset=("SHOP",))
    values = launch_values(launch)
    assert "SHOP" not in values["environment"]
    with trio.fail_after(120):
        async with open_adapter(given, "m", values, watchdog, env={"SHOP": None}) as adapter:
            assert eval(bytes(await adapter.stream.receive_some()))[2] is None


@pytest.mark.real
async def test_an_announced_port_is_taken_from_its_output(watchdog: Watchdog) -> None:
    described = table(command=[sys.executable, "-c", ADAPTER, "0"], transport={"announced": r"listening at (\d+)\n"})
    with trio.fail_after(120):
        async with open_adapter(described, "m", attach_values(Attach(pid=1)), watchdog) as adapter:
            assert (await adapter.stream.receive_some()).startswith(b"([], ")


@pytest.mark.parametrize(
    ("transport", "problem"),
    [
        ({}, "exactly one of `announced`, `given` and `socket` is needed"),
        ({"given": "{port}", "socket": "{socket}"}, "exactly one of"),
        ({"announced": "listening"}, "`announced` needs a group for the port"),
        ({"announced": "(\\d+"}, "is not a regular expression"),
        ("tcp", "Invalid enum value 'tcp'"),
    ],
)
def test_a_transport_that_makes_no_sense_is_refused(transport: object, problem: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=problem):
        table(transport=transport)
