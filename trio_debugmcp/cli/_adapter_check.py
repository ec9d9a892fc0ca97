"""`trio-debugmcp adapters --check`: a tiny program is really debugged with an adapter.

The programs are in `samples/check/`. A comment in each says where it is to stop, and which value an expression has
there.
"""

import json
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import trio
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from msgspec import Struct

from trio_debugmcp import samples
from trio_debugmcp.cli._output import innermost
from trio_debugmcp.dap.profiles import Profile
from trio_debugmcp.own_command import own_command
from trio_debugmcp.patience import Patience

CHECK_SECONDS = 60.0
"""For one adapter: a compiler and a debugger from a cold disk take ten. The server's own limits are all shorter."""

_PROGRAMS = Path(samples.__file__).parent / "check"

_STOP = re.compile(r"stop: (?P<expression>\S+) is (?P<value>\S+)")

_OUTPUT = "total 42"

_PAGE, _PAGE_SECONDS = ".html", 1.0
"""A program that stays when it has written its output, and for how long it is waited for then."""


class AdapterCheck(Struct, frozen=True, omit_defaults=True):
    """What came of it. `step`: the tool that failed."""

    ok: bool
    seconds: float
    step: str | None = None
    problem: str | None = None


def sample_for(profile: Profile) -> Path | None:
    """Return the program that is debugged to check an adapter; None if there is none of its language."""
    # Installed, the directory also has the compiled form of the Python one.
    files = [file for file in _PROGRAMS.iterdir() if file.is_file()]
    samples = {file.suffix: file for file in files if _STOP.search(file.read_text("utf-8"))}
    return next((samples[suffix] for suffix in profile.detect.suffixes if suffix in samples), None)


async def check(profile: Profile, files: Sequence[Path], program: Path, patience: Patience) -> AdapterCheck:
    """Start a server, with these files of tables, and have it debug a copy of the program with an adapter.

    Error handling: whatever goes wrong is the finding.
    """
    options = [f"--patience={patience.factor:g}", *(f"--adapters={file}" for file in files)]
    seconds = patience.seconds(CHECK_SECONDS)
    python, *words = own_command("serve", "--no-state", *options)
    server = StdioServerParameters(command=python, args=words, env=dict(os.environ))
    steps = _Steps(profile.name)
    start = trio.current_time()
    problem: str | None = None
    with tempfile.TemporaryDirectory(prefix="trio-debugmcp-check-") as directory:
        copy = Path(directory) / program.name
        shutil.copyfile(program, copy)
        try:
            with trio.fail_after(seconds):
                async with Client(server) as client:
                    start = trio.current_time()
                    problem = await steps.run(client, copy)
        except trio.TooSlowError:
            problem = f"no answer within {seconds:g} s"
        except (OSError, MCPError, trio.BrokenResourceError, trio.ClosedResourceError, ExceptionGroup) as error:
            problem = f"the server does not work: {innermost(error)}"
        took = round(trio.current_time() - start, 2)
    if problem is None:
        return AdapterCheck(True, took)
    return AdapterCheck(False, took, steps.current, problem)


class _Steps:
    """The calls that make up a check, one after the other."""

    def __init__(self, adapter: str) -> None:
        self._adapter = adapter
        self._text = ""
        self.current = "serve"

    async def run(self, client: Client, program: Path) -> str | None:
        """Return what is wrong with the first answer that is not as it should be."""
        lines = program.read_text("utf-8").splitlines()
        number, stop = next(
            (number, stop_mark) for number, line in enumerate(lines, 1) if (stop_mark := _STOP.search(line))
        )
        launch = {
            "program": str(program),
            "adapter": self._adapter,
            "cwd": str(program.parent),
            "stop_at_entry": False,
            "breakpoints": [{"file": str(program), "line": number}],
        }
        calls: list[tuple[str, dict[str, Any], str]] = [
            ("debug_launch", launch, rf'"reason":"Breakpoint".*{re.escape(program.name)}:{number}\b'),
            ("evaluate", {"expression": stop["expression"]}, rf'"{re.escape(stop["value"])}"'),
            ("debug_step", {}, r'"state":"(Paused|Disconnected)"'),
            ("debug_continue", {}, r'"state":"Disconnected"|NO_SESSION'),
        ]
        if program.suffix == _PAGE:  # which has no end
            calls[-1] = ("debug_continue", {"timeout": _PAGE_SECONDS}, r'"state":"Running"')
        for self.current, arguments, expected in calls:
            answer = await client.call_tool(self.current, arguments)
            text = "".join(getattr(part, "text", "") for part in answer.content)
            self._text += text
            if not re.search(expected, text, re.DOTALL):
                return _sentence(text)
        self.current = "output"
        return None if _OUTPUT in self._text else f"the program's output has no {_OUTPUT!r}: {self._text[-500:]}"


def _sentence(text: str) -> str:
    """Return what an answer says that is not the expected one."""
    try:
        error = json.loads(text)["error"]
        said = str(error["details"].get("stderr", "")).strip()
        return f"{error['message']} It wrote: {said[-500:]}" if said else str(error["message"])
    except (ValueError, KeyError, TypeError):
        return f"it answered {text[:500]}"
