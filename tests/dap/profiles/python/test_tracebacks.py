"""What is read from the tracebacks that real programs of Python print."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from trio_debugmcp.dap.profiles.printed_exceptions import Crash, CrashFrame
from trio_debugmcp.dap.profiles.python.tracebacks import MAX_LINES, printed_in


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


def crash_in(stderr: str) -> Crash | None:
    return printed_in(stderr).crash


def outline(crash: Crash | None) -> object:
    """An exception and what is behind it: way, text, lines of its frames, notes, and the same of each behind it."""
    assert crash is not None
    lines = [each.line for each in crash.frames]
    return crash.way, crash.exception, lines, *crash.notes, *[outline(each) for each in crash.inner]


@pytest.mark.real
def test_the_exception_that_ended_a_program_and_its_frames_innermost_first(tmp_path: Path) -> None:
    till = str(tmp_path / "till.py")
    text = printed(tmp_path, SOURCE)
    crash = crash_in(text)
    assert crash is not None
    assert (crash.exception, crash.way) == (r"KeyError: 'no\nprice'", None)
    assert crash.frames == (
        CrashFrame("pay", till, 11, text='raise KeyError("no\\nprice") from error'),
        CrashFrame("<module>", till, 13, text='pay("{")'),
    )
    (cause,) = crash.inner
    assert (cause.way, cause.exception.partition(":")[0]) == ("cause", "json.decoder.JSONDecodeError")
    assert [each.function for each in cause.frames][-2:] == ["parse", "pay"]
    direct = crash_in(printed(tmp_path, SOURCE.replace('pay("{")', 'parse("{")')))
    assert direct is not None
    assert direct.exception.startswith("json.decoder.JSONDecodeError: Expecting property name")
    names = [(each.function, each.is_library) for each in direct.frames]
    assert (names[0], names[-2:]) == (("raw_decode", True), [("parse", False), ("<module>", False)])


@pytest.mark.real
@pytest.mark.parametrize(
    "source",
    [
        "raise SystemExit(3)",
        "import threading\nthreading.Thread(target=lambda: 1 / 0).start()",
        "print('no traceback')",
        "import sys\nsys.stderr.write('Traceback (most recent call last):\\n')",
        "import sys\nsys.stderr.write('  + Exception Group Traceback (most recent call last):\\n  +-+---- 1 ----\\n')",
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
        frame.format("/a.py", 2, "two") + "  [Previous line repeated 2 more times]\n" + "shop.Closed: at night\nmore\n"
    )
    two = CrashFrame("two", "/a.py", 2, text="code()")
    assert crash_in(text) == Crash("shop.Closed: at night", (two, two, two), notes=("more",))
    assert crash_in(text.replace(head, "Exception in thread T-1:\n" + head)) is None


GROUPS = """\
def fail(error, cause=None):
    try:
        raise error from cause
    except Exception as raised:
        return raised

first = fail(ValueError("a\\nb"), fail(KeyError("k")))
first.add_note("its note")
deep = fail(ExceptionGroup("deep", [TypeError("never raised"), fail(OSError("o"))]))
many = ExceptionGroup("many", [first, deep, *[ValueError(n) for n in range(20)]])
many.add_note("of all")
try:
    raise many
except ExceptionGroup:
    raise RuntimeError("outer")
"""


@pytest.mark.real
def test_a_group_is_read_as_a_tree_with_notes_and_causes(tmp_path: Path) -> None:
    crash = crash_in(printed(tmp_path, GROUPS))
    assert crash is not None
    assert (crash.exception, [each.line for each in crash.frames]) == ("RuntimeError: outer", [15])
    (many,) = crash.inner
    assert (many.way, many.exception, many.notes) == (
        "context",
        "ExceptionGroup: many (22 sub-exceptions)",
        ("of all",),
    )
    assert (many.members, len(many.inner)) == (22, 15), "Python prints only the first"
    assert outline(many.inner[0]) == (
        "member", "ValueError: a", [3], "b", "its note", ("cause", "KeyError: 'k'", [3]),
    )  # fmt: skip
    assert outline(many.inner[1]) == (
        "member", "ExceptionGroup: deep (2 sub-exceptions)", [3],
        ("member", "TypeError: never raised", []), ("member", "OSError: o", [3]),
    )  # fmt: skip
    assert outline(many.inner[2]) == ("member", "ValueError: 0", [])


@pytest.mark.real
def test_a_cause_without_a_traceback_is_part_of_the_chain(tmp_path: Path) -> None:
    def found(source: str) -> object:
        return outline(crash_in(printed(tmp_path, source)))

    group = 'raise ExceptionGroup("g", [ValueError(1)]) from TypeError("cause")'
    member: object = ("member", "ValueError: 1", [])
    assert found(group) == (
        None, "ExceptionGroup: g (1 sub-exception)", [1], ("cause", "TypeError: cause", []), member,
    )  # fmt: skip
    logged = 'import sys\nsys.stderr.write("loading: 1\\nmore\\n")\n'
    two: object = ("cause", "TypeError: two", [], "lines")
    assert found(logged + 'raise KeyError("k") from TypeError("two\\nlines")') == (None, "KeyError: 'k'", [3], two)
    bare: object = ("cause", "ExceptionGroup: g (1 sub-exception)", [], member)
    assert found('raise KeyError("k") from ExceptionGroup("g", [ValueError(1)])') == (None, "KeyError: 'k'", [1], bare)
    own = (
        'class Stop(Exception): pass\nfirst, then = Stop(), Stop("b")\nthen.__cause__ = first\nraise KeyError from then'
    )
    assert found(own) == (None, "KeyError", [4], ("cause", "Stop: b", [], ("cause", "Stop", [])))
    survived = (
        "import threading\ndef run():\n    raise KeyError from OSError('o')\nthreading.Thread(target=run).start()"
    )
    (thread,) = printed_in(printed(tmp_path, survived)).survived
    assert (thread.exception, thread.where) == ("KeyError", "in thread Thread-1 (run)")


REMOTE = """\
from concurrent.futures.process import _ExceptionWithTraceback

def fail():
    1 / 0

try:
    fail()
except ZeroDivisionError as error:
    rebuild, arguments = _ExceptionWithTraceback(error, error.__traceback__).__reduce__()
    found = rebuild(*arguments)
AGAIN
raise found.with_traceback(None)
"""


@pytest.mark.real
@pytest.mark.parametrize("times", [1, 2])
def test_the_traceback_of_another_process_is_the_message_of_the_cause(times: int, tmp_path: Path) -> None:
    again = "found = (lambda made: made[0](*made[1]))(_ExceptionWithTraceback(found, None).__reduce__())\n"
    crash = crash_in(printed(tmp_path, REMOTE.replace("AGAIN\n", again * (times - 1))))
    assert crash is not None
    assert (crash.exception, len(crash.frames), len(crash.inner)) == ("ZeroDivisionError: division by zero", 1, 1)
    (cause,) = crash.inner
    assert (cause.way, cause.exception) == ("cause", "concurrent.futures.process._RemoteTraceback")
    assert (cause.frames, cause.inner) == ((), ())
    assert cause.notes[-1] == "ZeroDivisionError: division by zero"
    assert cause.notes.count('"""') == 2 * (times - 1)
    assert any(each.endswith("line 4, in fail") for each in cause.notes)


@pytest.mark.parametrize(
    "name", ["multiprocessing.pool.RemoteTraceback", "concurrent.futures.process._RemoteTraceback"]
)
def test_an_exception_that_quotes_one_of_another_process_leads_to_that(name: str) -> None:
    said = (
        'Traceback (most recent call last):\n  File "/a/work.py", line 4, in fail\n    1 / 0\nZeroDivisionError: no\n'
    )
    expected = Crash("ZeroDivisionError: no", (CrashFrame("fail", "/a/work.py", 4, text="1 / 0"),))
    assert printed_in(f'{name}: \n"""\n{said}"""').crash == expected
    assert printed_in(f'{name}: \n"""\n{said}… (+9 characters)').crash is not None
    assert printed_in(f"{name}: no traceback").crash is None


QUOTING = """\
import traceback

def work():
    return 1 / 0

try:
    work()
except ZeroDivisionError:
    text = traceback.format_exc()
raise RuntimeError("the worker failed:\\n" + text)
"""


@pytest.mark.real
def test_a_traceback_in_a_message_is_not_the_one_that_ended_the_program(tmp_path: Path) -> None:
    text = printed(tmp_path, QUOTING)
    assert outline(crash_in(text)) != outline(crash_in(under_debugger(text)))  # not known without the debugger's frames
    crash = crash_in(under_debugger(text))
    assert crash is not None
    assert (crash.exception, [each.line for each in crash.frames]) == ("RuntimeError: the worker failed:", [10])
    assert crash.notes[0] == "Traceback (most recent call last):"
    assert crash.notes[-1] == "ZeroDivisionError: division by zero"
    # What was printed before it, where it was caught, is not its own either; that of a thread after it is another one.
    before = 'Traceback (most recent call last):\n  File "/a.py", line 1, in one\n    code()\nValueError: no\n'
    found = printed_in(before + under_debugger(text) + "Exception in thread T-1 (work):\n" + before)
    assert outline(found.crash) == outline(crash)
    assert [each.exception for each in found.survived] == ["ValueError: no"]
    # Without a line between, it cannot be distinguished from a message that continues.
    after = crash_in(under_debugger(text) + before)
    assert after is not None
    assert after.exception == crash.exception


def under_debugger(text: str) -> str:
    """The text of an exception that has left the program, with the frames of what has run it."""
    head = "Traceback (most recent call last):\n"
    outside = '  File "/x/debugpy/server/cli.py", line 9, in main\n    run()\n'
    return text.replace(head, head + outside, 1)


def test_quotes_that_do_not_end_are_text() -> None:
    head = 'Traceback (most recent call last):\n  File "/a.py", line 1, in one\n    code()\n'
    crash = crash_in(f'a.RemoteTraceback: \n"""\n{head}ValueError: no\n')
    assert outline(crash) == (None, "ValueError: no", [1])


def test_what_is_printed_after_the_exception_is_not_its_text() -> None:
    head = 'Traceback (most recent call last):\n  File "/a.py", line 1, in one\n    code()\nValueError: no\n'
    assert outline(crash_in(head + "note\n\nlater\n")) == (None, "ValueError: no", [1], "note")
    assert outline(crash_in(head + "Exception in thread T:\n" + head)) == (None, "ValueError: no", [1])
    crash = crash_in(head + "line\n" * 100)
    assert crash is not None
    assert len(crash.notes) == MAX_LINES


OTHERS = """\
import asyncio, atexit, gc, threading

class Lamp:
    def __del__(self):
        raise ValueError("in del")

def work():
    raise KeyError("in thread")

def leave():
    raise OSError("at exit")

async def task():
    raise RuntimeError("in task")

async def forgotten():
    pass

async def main():
    asyncio.create_task(task())
    forgotten()
    await asyncio.sleep(0.01)
    asyncio.get_running_loop().call_soon(lambda: {}["callback"])
    await asyncio.sleep(0)

thread = threading.Thread(target=work)
thread.start()
thread.join()
Lamp()
atexit.register(leave)
asyncio.run(main())
loop = asyncio.new_event_loop()
slow = loop.create_task(asyncio.sleep(9))
loop.run_until_complete(asyncio.sleep(0))
loop.close()
del slow
1 / 0
"""


@pytest.mark.real
def test_exceptions_that_did_not_end_the_program_and_where_they_were(tmp_path: Path) -> None:
    found = printed_in(printed(tmp_path, OTHERS))
    assert found.crash is not None
    assert found.crash.exception == "ZeroDivisionError: division by zero"
    shown = [(each.exception, each.where, each.frame and each.frame.line) for each in found.survived]
    assert shown == [
        ("KeyError: 'in thread'", "in thread Thread-1 (work)", 8),
        ("ValueError: in del", "in Lamp.__del__", 5),
        ("RuntimeError: in task", "in the asyncio task Task-2 (task)", 14),
        ("KeyError: 'callback'", "in a callback of asyncio", 23),
        ("OSError: at exit", "in leave, called at the exit", 11),
        (None, "the asyncio task Task-5 (sleep) was pending at the end", None),
        (None, "the coroutine forgotten was never awaited", 21),
    ]


@pytest.mark.parametrize(
    ("before", "where"),
    [
        ("Exception ignored in: <generator object g at 0x7f>", "that was ignored"),
        ("Exception ignored while calling deallocator <function Lamp.__del__ at 0x7f>:", "in Lamp.__del__"),
        ("Error in atexit._run_exitfuncs:", "in a function called at the exit"),
        ("Exception ignored in atexit callback: <function bye at 0x7f>", "in bye, called at the exit"),
        ("--- Logging error ---", "while logging"),
        ("Process Process-2:", "in process Process-2"),
        ("Future exception was never retrieved\nfuture: <Future finished exception=E()>", "in an asyncio future"),
    ],
)
def test_other_versions_say_it_in_other_words(before: str, where: str) -> None:
    text = f'{before}\nTraceback (most recent call last):\n  File "/a.py", line 1, in one\n    code()\nValueError: no\n'
    found = printed_in(textwrap.dedent(text))
    assert (found.crash, [each.where for each in found.survived]) == (None, [where])


def test_a_future_without_a_traceback() -> None:
    found = printed_in("Future exception was never retrieved\nfuture: <Future finished exception=E('no')>\nE: no\n")
    assert [(each.exception, each.frame) for each in found.survived] == [("E: no", None)]
