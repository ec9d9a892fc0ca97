"""Bad input: each mistake gets an error code and a sentence that says what to do, and the server stays usable."""

from pathlib import Path

import pytest

from tests.real.conftest import Connect, at, program
from trio_debugmcp.testing import ToolFailed

STEPS = program("steps.py")


async def test_without_a_session_each_mistake_is_named_and_the_server_stays_usable(debugging: Connect) -> None:
    mistakes: list[tuple[str, dict[str, object], str, str]] = [
        ("debug_launch", {}, "INVALID_PARAMETER", "program"),
        ("debug_launch", {"program": [7]}, "INVALID_PARAMETER", "`program` takes a text, and this is a list"),
        ("debug_launch", {"program": 7}, "INVALID_PATH", "There is no file '7'"),
        ("debug_launch", {"program": STEPS, "stop_on_entry": True}, "INVALID_PARAMETER", "stop_at_entry"),
        ("debug_launch", {"program": STEPS, "timeout": -1}, "INVALID_PARAMETER", "timeout"),
        ("debug_launch", {"program": STEPS, "args": {"one": 2}}, "INVALID_PARAMETER", "args"),
        ("debug_launch", {"program": "/nowhere/app.py"}, "INVALID_PATH", "does not exist"),
        ("debug_launch", {"program": "/tmp", "adapter": "debugpy"}, "INVALID_PATH", "is a directory"),
        ("debug_launch", {"program": STEPS, "cwd": "/nowhere"}, "INVALID_PATH", "working directory"),
        ("debug_launch", {"program": program("broken.py")}, "LAUNCH_FAILED", "SyntaxError in line 1"),
        ("debug_launch", {"program": "/etc/passwd"}, "ADAPTER_NOT_FOUND", "debugpy"),
        ("debug_launch", {"program": STEPS, "adapter": "cobol"}, "ADAPTER_NOT_FOUND", "debugpy"),
        (
            "debug_launch",
            {"program": STEPS, "adapter_options": {"python": ["/no/python"]}},
            "LAUNCH_FAILED",
            "/no/python",
        ),
        ("debug_attach", {}, "INVALID_PARAMETER", "port"),
        ("debug_attach", {"pid": 999999999}, "ATTACH_FAILED", "no process"),
        ("debug_attach", {"port": 9}, "ATTACH_FAILED", "nothing listens"),
        ("debug_continue", {}, "NO_SESSION", "debug_launch"),
        ("debug_restart", {}, "NO_SESSION", "debug_launch"),
        ("debug_wait", {"breakpoint_id": "bp-9"}, "BREAKPOINT_NOT_FOUND", "bp-9"),
        ("debug_state", {"session_id": "s-9"}, "NO_SESSION", "debug_launch"),
        ("breakpoint_set", {"file": STEPS}, "INVALID_PARAMETER", "line"),
        ("breakpoint_set", {"file": STEPS, "line": 0}, "INVALID_PARAMETER", "line"),
        ("breakpoint_set", {"file": "/nowhere.py", "line": 1}, "INVALID_PATH", "/nowhere.py"),
        ("breakpoint_set", {"file": STEPS, "line": 5, "condition": "a b"}, "INVALID_CONDITION", "a b"),
        ("breakpoint_set", {"file": STEPS, "line": 5, "condition": "a = 'b'"}, "INVALID_CONDITION", "write `==`"),
        ("debug_launch", {"file": STEPS}, "INVALID_PARAMETER", "pass it as `program`"),
        ("breakpoint_set", {"file": STEPS, "line": 5, "hit_condition": "often"}, "INVALID_CONDITION", ">= 3"),
        ("breakpoint_enable", {"id": "bp-9"}, "BREAKPOINT_NOT_FOUND", "bp-9"),
        ("breakpoint_remove", {"id": "bp-9"}, "BREAKPOINT_NOT_FOUND", "bp-9"),
        ("source_get", {"file": "/etc/passwd"}, "NO_SESSION", "debug_launch"),
        ("process_write_input", {"data": "x"}, "NO_SESSION", "debug_launch"),
        ("no_such_tool", {}, "INVALID_PARAMETER", "tools/list has the "),
    ]
    async with debugging() as client:
        for tool, arguments, code, says in mistakes:
            with pytest.raises(ToolFailed) as failed:
                await client.call(tool, **arguments)
            assert (tool, arguments, failed.value.code) == (tool, arguments, code)
            assert says in failed.value.message
        assert (await client.call("debug_launch", program=STEPS))["reason"] == "Entry"


async def test_during_a_session_each_mistake_is_named_and_the_session_continues(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("debug_launch", program=STEPS)
        mistakes: list[tuple[str, dict[str, object], str, str]] = [
            ("debug_launch", {"program": STEPS}, "SESSION_ACTIVE", "debug_disconnect"),
            ("debug_attach", {"port": 9}, "SESSION_ACTIVE", "debug_disconnect"),
            ("debug_continue", {"thread_id": 77}, "INVALID_THREAD", "Threads: 1"),
            ("debug_continue", {"session_id": "s-99"}, "NO_SESSION", "s-1"),
            ("debug_step", {"mode": "sideways"}, "INVALID_PARAMETER", "sideways"),
            ("debug_step", {"mode": "back"}, "NOT_SUPPORTED", " cannot "),
            ("stacktrace_get", {"thread_id": 77}, "INVALID_THREAD", "77"),
            ("variables_get", {"frame_index": 40}, "INVALID_FRAME", "40"),
            ("variables_get", {"path": "nobody.home"}, "EVAL_FAILED", "NameError"),
            ("evaluate", {"expression": "1 +"}, "EVAL_FAILED", "SyntaxError"),
            ("exception_get_context", {}, "NO_EXCEPTION", "stops where an exception is raised that nothing catches"),
            (
                "source_get",
                {"file": "/etc/passwd"},
                "INVALID_PATH",
                "not referenced in any loaded debug symbols",
            ),
            ("source_get", {"file": STEPS, "start_line": 4000}, "INVALID_PARAMETER", "lines 1 to"),
        ]
        for tool, arguments, code, says in mistakes:
            with pytest.raises(ToolFailed) as failed:
                await client.call(tool, **arguments)
            assert (tool, failed.value.code) == (tool, code)
            assert says in failed.value.message
        await client.call("breakpoint_set", **at("steps.py", "# last"))
        assert (await client.call("debug_continue"))["breakpoints"] == ["bp-1"]


async def test_programs_and_sources_outside_the_roots_are_refused(debugging: Connect, tmp_path: Path) -> None:
    inside = tmp_path / "app.py"
    inside.write_text("x = 1\nprint(x)\n")
    async with debugging("legacy", "--root", str(tmp_path)) as client:
        with pytest.raises(ToolFailed) as failed:
            await client.call("debug_launch", program=STEPS)
        assert failed.value.code == "PERMISSION_DENIED"
        with pytest.raises(ToolFailed) as failed:
            await client.call("debug_launch", program="../../../../etc/passwd")
        assert failed.value.code == "PERMISSION_DENIED"
        launched = await client.call("debug_launch", program="app.py")
        assert launched["at"] == "app.py:1 in <module>"
        session = await client.read("debugger://session")
        assert (session["executablePath"], session["workingDirectory"]) == (str(inside), str(tmp_path))
