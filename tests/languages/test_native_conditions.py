"""Conditions of breakpoints in programs of machine code that gdb cannot judge."""

import shutil
from pathlib import Path

import pytest

from tests.languages.conftest import installed, need
from tests.real.conftest import Connect

pytestmark = pytest.mark.real

PROGRAM = """\
#include <string>
int paid(const std::string& name, int salary) {
    return salary + (int) name.size();
}
int main() {
    return paid("ann", 900) + paid("dan", 300) > 0 ? 0 : 1;
}
"""


@pytest.fixture(autouse=True)
def _gdb() -> None:
    installed("gdb")
    need("g++", shutil.which("g++"), "apt-get install g++")


async def test_a_condition_that_fails_when_it_is_judged_stops_the_program_and_says_so(
    debugging: Connect, tmp_path: Path
) -> None:
    (tmp_path / "pay.cpp").write_text(PROGRAM)
    async with debugging("--root", str(tmp_path), "--allow-build") as client:
        wanted = [{"file": "pay.cpp", "line": 3, "condition": 'name == "dan"'}]
        stop = await client.call("debug_launch", program="pay.cpp", adapter="gdb", breakpoints=wanted)
        failed = 'the condition `name == "dan"` failed: No symbol "operator==" in current context.'
        assert [note for note in stop["notes"] if note.startswith(failed)]
        assert "stdout" not in stop
        await client.call("breakpoint_set", file="pay.cpp", line=3, condition='name.compare("dan") == 0')
        assert (await client.call("debug_continue"))["locals"]["salary"].startswith("300")


async def test_a_condition_with_an_unknown_name_or_a_wrong_syntax_is_named_at_the_end_of_a_launch(
    debugging: Connect, tmp_path: Path
) -> None:
    (tmp_path / "pay.cpp").write_text(PROGRAM)
    async with debugging("--root", str(tmp_path), "--allow-build") as client:
        wanted = [
            {"file": "pay.cpp", "line": 3, "condition": "wage < 400"},
            {"file": "pay.cpp", "line": 6, "condition": "1 <"},
        ]
        ended = await client.call("debug_launch", program="pay.cpp", adapter="gdb", breakpoints=wanted)
        refused = [note for note in ended["notes"] if "was refused" in note]
        assert refused == [
            'bp-1 was refused: the condition `wage < 400` failed: No symbol "wage" in current context.',
            "bp-2 was refused: the condition `1 <` failed: A syntax error in expression, near the end of `1 <'.",
        ]
