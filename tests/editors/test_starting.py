"""What an editor's `launch` starts: by its type, or by the file, which is said; and what is refused."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.editors.bench import EditorClient, Refused, open_bench, paused
from trio_debugmcp.editors.starting import NO_TERMINAL
from trio_debugmcp.testing import FakeAdapter


async def launch(editor: EditorClient, **configuration: Any) -> str:
    """Launch, and return how it was refused; empty if it was not."""
    await editor.initialize()
    refusals: list[str] = []

    async def ask() -> None:
        try:
            await editor.ask("launch", token="control-token", **configuration)
        except Refused as refused:
            refusals.append(str(refused))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask)
        await editor.wait_event("initialized")
        await editor.ask("configurationDone")
    return "".join(refusals)


def notes(editor: EditorClient) -> list[str]:
    return [each["output"] for each in editor.bodies("output") if each["category"] == "important"]


@pytest.mark.parametrize(
    ("configuration", "note"),
    [
        (
            {"type": "cobol"},
            "debugged by fake: the type 'cobol' of the configuration is not known; there are known",
        ),
        ({"type": "cobol", "adapter": "fake"}, None),
        ({"type": "known"}, None),
        ({"type": "trio-debugmcp"}, None),
        ({}, None),
    ],
)
async def test_a_type_that_is_not_known_is_named_and_the_file_decides(
    configuration: Mapping[str, str], note: str | None, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    async with open_bench(adapter) as bench, bench.editor() as editor:
        bench.server.app.debugger.settings.profiles[0].types = frozenset({"known"})
        assert await launch(editor, program=adapter.program, **configuration) == ""
        await editor.wait_event("process")
        assert notes(editor) == ([] if note is None else [f"fake_adapter.py is {note}.\n"])


@pytest.mark.parametrize(
    ("console", "expected"), [("integratedTerminal", [f"{NO_TERMINAL}\n"]), ("internalConsole", [])]
)
async def test_a_person_who_wants_a_terminal_learns_that_there_is_none(
    console: str, expected: list[str], autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    async with open_bench(adapter) as bench, bench.editor() as editor:
        assert await launch(editor, program=adapter.program, console=console) == ""
        await editor.wait_event("process")
        assert notes(editor) == expected


async def test_a_launch_beside_a_session_is_refused_in_the_words_of_a_configuration(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.initialize()
        with pytest.raises(Refused, match=r'"request": "attach".*"newSession": true.*"replace": true'):
            await editor.ask("launch", token="control-token", program=adapter.program)


async def test_what_neither_type_nor_file_decides_is_refused_with_the_types(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    program = tmp_path / "main.cob"
    program.touch()
    async with open_bench(FakeAdapter()) as bench, bench.editor() as editor:
        bench.server.app.debugger.settings.profiles[0].types = frozenset({"known", "also"})
        refused = await launch(editor, program=str(program), type="cobol")
        assert f"no debug adapter for '{program}'" in refused
        assert refused.endswith("the type 'cobol' of the configuration is not known; there are also, known.")


@pytest.mark.parametrize(
    ("configuration", "key", "variable"),
    [
        ({"program": "${file}"}, "program", "${file}"),
        ({"program": FakeAdapter.program, "args": ["-v", "x${workspaceFolder}/a"]}, "args", "${workspaceFolder}"),
        ({"program": FakeAdapter.program, "env": {"A": "${env:HOME}"}}, "env", "${env:HOME}"),
        ({"program": FakeAdapter.program, "env": {"${input:name}": "1"}}, "env", "${input:name}"),
        ({"program": FakeAdapter.program, "cwd": "${command:pick.folder}"}, "cwd", "${command:pick.folder}"),
    ],
)
async def test_a_variable_that_the_editor_has_left_is_refused_as_the_editors(
    configuration: dict[str, Any], key: str, variable: str, autojump_clock: MockClock
) -> None:
    async with open_bench(FakeAdapter()) as bench, bench.editor() as editor:
        refused = await launch(editor, **configuration)
        assert refused.startswith(f"`{key}` has the variable {variable}, which your editor should have replaced")


async def test_what_is_a_variable_of_a_shell_or_of_the_program_is_passed_on(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_bench(adapter) as bench, bench.editor() as editor:
        args = ["${HOME}", "${NAME:-default}", "$file", "${}"]
        assert await launch(editor, program=adapter.program, args=args) == ""
        assert adapter.sent("launch")[0]["args"] == args
