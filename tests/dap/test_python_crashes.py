"""What is read from the tracebacks that real programs of Python print."""

import subprocess
import sys
from pathlib import Path

import pytest

from trio_debugmcp.dap.profiles.language import Crash, CrashFrame
from trio_debugmcp.dap.profiles.python_crashes import crash_in


def printed(directory: Path, source: str) -> str:
    """What a program writes on standard error."""
    (directory / "till.py").write_text(source)
    done = subprocess.run(
        [sys.executable, "-I", "till.py"], cwd=directory, capture_output=True, text=True, timeout=60, check=False
    )
    return done.stderr


SOURCE = """\
import json

def parse(text):
    return json.loads(
        text)

def pay(text):
    try:
        parse(text)
    except ValueError as error:
        raise KeyError("no\\nprice") from error

pay("{")
"""


def test_the_exception_that_ended_a_program_and_its_frames_innermost_first(tmp_path: Path) -> None:
    till = str(tmp_path / "till.py")
    text = printed(tmp_path, SOURCE)
    assert crash_in(text) == Crash(
        r"KeyError: 'no\nprice'", (CrashFrame("pay", till, 11), CrashFrame("<module>", till, 13))
    )
    direct = crash_in(printed(tmp_path, SOURCE.replace('pay("{")', 'parse("{")')))
    assert direct is not None
    assert direct.exception.startswith("json.decoder.JSONDecodeError: Expecting property name")
    names = [(each.function, each.is_library) for each in direct.frames]
    assert (names[0], names[-2:]) == (("raw_decode", True), [("parse", False), ("<module>", False)])


@pytest.mark.parametrize(
    "source",
    [
        "raise SystemExit(3)",
        "import threading\nthreading.Thread(target=lambda: 1 / 0).start()",
        "print('no traceback')",
        "import sys\nsys.stderr.write('Traceback (most recent call last):\\n')",
    ],
)
def test_what_did_not_end_the_program_is_not_taken_for_it(source: str, tmp_path: Path) -> None:
    assert crash_in(printed(tmp_path, source)) is None


def test_of_several_tracebacks_the_last_one_counts_without_the_frames_of_the_debugger() -> None:
    frame = '  File "{}", line {}, in {}\n    code()\n    ~~~~^^\n'
    head = "Traceback (most recent call last):\n"
    text = head + frame.format("/a.py", 1, "one") + "ValueError\n\nDuring handling …, another exception occurred:\n\n"
    text += head + frame.format("/x/debugpy/__main__.py", 9, "main") + frame.format("<frozen runpy>", 8, "run")
    text += (
        frame.format("/a.py", 2, "two") + "  [Previous line repeated 7 more times]\n" + "shop.Closed: at night\nmore\n"
    )
    assert crash_in(text) == Crash("shop.Closed: at night", (CrashFrame("two", "/a.py", 2),))
    assert crash_in(text.replace(head, "Exception in thread T-1:\n" + head)) is None
