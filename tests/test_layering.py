"""The floor plan: imports go downwards only."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import trio_debugmcp

HOME = Path(trio_debugmcp.__file__).parent

FLOORS = [
    {"errors", "clock", "samples"},
    {"dap"},
    {"state"},
    {"session", "publish", "transports"},
    {"server", "client", "recording", "dashboard"},
    {"replay"},
    {"app"},
    {"listen"},
    {"cli"},
    {"__main__"},
]
"""A room may use its own and those on the floors below, never a neighbour."""

PURE = ("state", "dap.framing", "dap.messages", "testing.scenario.lines", "testing.scenario.text")


def imports(file: Path) -> Iterator[str]:
    """Full names of what a file imports anywhere, functions included."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            yield from (f"{node.module}.{each.name}" for each in node.names)


def module(file: Path) -> str:
    return ".".join(file.relative_to(HOME).with_suffix("").parts)


def test_imports_go_downwards_only() -> None:
    floor = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
    for file in HOME.rglob("*.py"):
        own = module(file).partition(".")[0]
        for name in imports(file):
            room = name.removeprefix("trio_debugmcp.").partition(".")[0]
            if name.startswith("trio_debugmcp.") and room not in {own, "__version__"} and own != "testing":
                assert floor[room] < floor[own], f"{file} imports {name}"


def test_the_pure_rooms_know_nothing_of_trio() -> None:
    pure = [file for file in HOME.rglob("*.py") if module(file).startswith(PURE)]
    assert len(pure) > len(PURE)
    for file in pure:
        assert not {"trio", "anyio", "socket", "time"} & {name.partition(".")[0] for name in imports(file)}, file


@pytest.mark.real
def test_serving_on_stdio_loads_nothing_that_it_does_not_need() -> None:
    script = (
        "import sys; from trio_debugmcp.cli import main; code = main(['serve'])\n"
        "print(*sys.modules, file=sys.stderr); sys.exit(code)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False
    )
    assert (ran.returncode, ran.stdout) == (0, b"")
    loaded = set(ran.stderr.decode().split())
    assert "trio_debugmcp.app" in loaded
    unwanted = {"rich", "debugpy", "trio_websocket", "hypercorn", "trio_debugmcp.testing"}
    unwanted |= {"wsproto", "trio_debugmcp.transports.port", "trio_debugmcp.transports.websocket"}
    unwanted |= {"trio_debugmcp.client", "trio_debugmcp.dashboard", "trio_debugmcp.recording"}
    assert not unwanted & loaded
