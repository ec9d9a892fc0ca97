"""Which frames are the user's, where the adapter does not mark them."""

from pathlib import Path
from typing import Any

import pytest
from trio.testing import MockClock

from tests.session import natives
from tests.session.tables import launched
from trio_debugmcp.testing import FakeAdapter


def frames(adapter: FakeAdapter, *found: dict[str, Any]) -> None:
    async def answer(arguments: dict[str, Any]) -> object:
        return {
            "stackFrames": [
                {"id": number, "name": f"f{number}", "line": 1, "column": 1, **each}
                for number, each in enumerate(found)
            ]
        }

    adapter.answer("stackTrace", answer)


async def users(client: Any, adapter: FakeAdapter) -> list[bool]:
    await adapter.stop("step")
    await client.call("debug_wait")
    return [each["isUserCode"] for each in (await client.read("debugger://stack"))["frames"]]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program in a directory of a project."""
    (tmp_path / "package.json").touch()
    program = tmp_path / "dist" / "app.js"
    program.parent.mkdir()
    program.touch()
    return program


async def test_the_users_code_is_that_of_the_project_without_what_is_installed_there(
    autojump_clock: MockClock, program: Path, tmp_path: Path
) -> None:
    adapter = FakeAdapter()
    own = [{"path": str(program)}, {"path": str(tmp_path / "src" / "app.ts")}, {"path": "<eval>/1"}, {"path": "app.ts"}]
    own += [{"path": f"{tmp_path}/node_modules/a/b.js"}, {"path": "/usr/lib/a.js"}, {"path": f"{tmp_path}2/a.js"}]
    sources: list[dict[str, Any]] = [{"source": each} for each in own]
    frames(adapter, *sources, {}, {"source": {"name": "x"}}, {**sources[0], "presentationHint": "subtle"})
    where = {"program": str(program), "cwd": str(program.parent)}
    async with launched("", adapter, **where) as client:
        shown = [True, True, False, True, False, False, False, False, False, False]
        assert await users(client, adapter) == shown


async def test_with_just_my_code_off_all_that_has_source_is_the_users(autojump_clock: MockClock, program: Path) -> None:
    adapter = FakeAdapter()
    frames(adapter, {"source": {"path": "/usr/lib/a.js"}}, {})
    async with launched("", adapter, program=str(program), just_my_code=False) as client:
        assert await users(client, adapter) == [True, False]


@pytest.mark.parametrize("just_my_code", [True, False])
async def test_of_machine_code_the_systems_is_not_the_users_unless_that_is_asked_for(
    autojump_clock: MockClock, just_my_code: bool
) -> None:
    adapter = FakeAdapter()
    where = ["/usr/include/c++/vector", "sysdeps/nptl/libc_start_call_main.h", "/somewhere/else/orders.cpp"]
    frames(adapter, *({"source": {"path": each}} for each in where), {"name": "_start"})
    async with natives.launched("gdb", adapter, just_my_code=just_my_code) as client:
        assert await users(client, adapter) == [not just_my_code, not just_my_code, True, False]


async def test_of_a_program_that_was_attached_to_no_directory_is_known(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    frames(adapter, {"source": {"path": "/anywhere/a.rb"}}, {"source": {"path": "/x/gems/a.rb"}})
    async with launched("", adapter) as client:
        await client.call("debug_disconnect")
        await client.call("debug_attach", port=5678)
        assert await users(client, adapter) == [True, False]


async def test_a_source_whose_path_is_relative_is_not_the_servers_file_of_that_name(
    autojump_clock: MockClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nptl").mkdir()
    (tmp_path / "nptl" / "start.h").write_text("another\n")
    monkeypatch.chdir(tmp_path)
    adapter = FakeAdapter()
    frames(adapter, {"source": {"path": "nptl/start.h"}})
    async with launched("", adapter) as client:
        await adapter.stop("pause")
        assert "source" not in await client.call("debug_wait")
