"""`trio-debugmcp doctor`: what it finds, and its exit code."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
import trio

from trio_debugmcp.cli import main
from trio_debugmcp.cli.doctor import DoctorFinding, check_debugging, list_sizes
from trio_debugmcp.dap.profiles import PROFILES, ptrace_problem
from trio_debugmcp.patience import USUAL
from trio_debugmcp.server.instructions import INSTRUCTIONS
from trio_debugmcp.testing import open_server

CAN_TRACE, CANNOT_TRACE = "CapEff:\t0000000000080000\n", "CapEff:\t0000000000000000\n"


@pytest.mark.real
def test_a_program_is_really_debugged_with_the_python_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o755)
    (tmp_path / ".venv" / "pyvenv.cfg").touch()
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.chdir(tmp_path)
    assert main(["doctor", "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert found["ok"] is True
    names = [each.name for each in PROFILES]
    checks = {each["name"]: each for each in found["checks"]}
    there = [name.removeprefix("adapter ") for name in checks if name.startswith("adapter ")]
    absent = checks.get("other adapters", {"detail": ""})["detail"]
    assert [name for name in names if name in there or f"{name} (" in absent] == names
    others = ["other adapters"] if absent else []
    adapters = [f"adapter {name}" for name in there]
    assert list(checks) == ["server", "recording", *adapters, *others, "attach by process id", "py-spy", "debugging"]
    assert checks["debugging"]["detail"].startswith(f"{python} ran a program, which stopped at a breakpoint")
    assert checks["debugging"]["status"] == checks["adapter debugpy"]["status"] == "ok"
    assert checks["adapter debugpy"]["detail"].endswith(
        "our own engine debugs CPython 3.12 and 3.13, debugpy all others"
    )
    assert found["hosts"]["full"]["tools"] >= found["hosts"]["core"]["tools"] > 10


@pytest.mark.real
def test_a_python_that_does_not_start_is_a_failure_and_the_exit_code_is_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text("#!/bin/sh\necho 'libpython is missing' >&2; exit 127\n")
    python.chmod(0o755)
    (tmp_path / "pyvenv.cfg").touch()
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path))
    assert main(["doctor"]) == 1
    lines = capsys.readouterr().out.splitlines()
    (failed,) = [line for line in lines if line.startswith("failed")]
    assert failed.startswith(f"failed  debugging: with {python}, debug_launch answered ")
    assert "libpython is missing" in failed
    assert "--log-level debug" in lines[lines.index(failed) + 1]
    assert lines[-4] == "What a host sees:"


async def checked(*command: str, seconds: float = 20) -> DoctorFinding:
    return await check_debugging([sys.executable, *command], str(Path.cwd()), USUAL, seconds)


@pytest.mark.real
async def test_a_server_that_does_not_work_is_the_finding() -> None:
    results: dict[str, DoctorFinding] = {}

    async def check(name: str, code: str, seconds: float) -> None:
        results[name] = await checked("-c", code, seconds=seconds)

    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(check, "ends", "raise SystemExit(3)", 20)
            nursery.start_soon(check, "silent", "import sys; sys.stdin.read()", 0.5)
    assert {each.status for each in results.values()} == {"failed"}
    assert results["ends"].detail.startswith("the server does not work: MCPError: ")
    assert results["silent"].detail == "no answer within 0.5 s"


async def test_the_sizes_are_those_of_what_a_client_gets(autojump_clock: trio.testing.MockClock) -> None:
    sizes, instructions = list_sizes()
    async with open_server() as server, server.connect() as client:
        result = await client.sdk.list_tools()
        assert client.sdk.instructions == INSTRUCTIONS
    assert instructions == len(INSTRUCTIONS.encode())
    full, core = sizes["full"], sizes["core"]
    assert full.tools == len(result.tools)
    sent = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in result.tools]
    assert full.wire_bytes == len(json.dumps({"tools": sent}, ensure_ascii=False, separators=(",", ":")).encode())
    shown = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in sent]
    assert full.model_bytes == len(json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode())
    assert core.tools < full.tools
    assert core.model_bytes < full.model_bytes < full.wire_bytes


@pytest.mark.parametrize(
    ("scope", "status", "says"),
    [
        ("0", CANNOT_TRACE, None),
        ("1", CAN_TRACE, None),
        ("2", CAN_TRACE, None),
        ("1", CANNOT_TRACE, "ptrace_scope is 1: set it to 0, or give the server the capability CAP_SYS_PTRACE"),
        ("2", CANNOT_TRACE, "ptrace_scope is 2: set it to 0"),
        ("3", CAN_TRACE, "nothing may be traced until the next start of the machine"),
    ],
)
def test_it_says_whether_linux_allows_tracing(scope: str, status: str, says: str | None, tmp_path: Path) -> None:
    for name, text in (("sys/kernel/yama/ptrace_scope", scope), ("self/status", f"Name:\tpython\n{status}")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    problem = ptrace_problem(tmp_path)
    assert problem is None if says is None else says in (problem or "")


def test_without_yama_nothing_keeps_a_user_from_tracing(tmp_path: Path) -> None:
    assert ptrace_problem(tmp_path) is None
