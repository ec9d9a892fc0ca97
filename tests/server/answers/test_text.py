"""Source and output as strings."""

import textwrap
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from trio_debugmcp.server.answers.text import (
    MAX_LINE_LENGTH,
    excerpt,
    in_order,
    joined,
    numbered,
    numbered_excerpt,
    without_debugger,
)
from trio_debugmcp.state.payloads import OutputEntry, shortened


def written(*pieces: tuple[str, str]) -> list[OutputEntry]:
    return [OutputEntry(number, stream, text, "") for number, (stream, text) in enumerate(pieces, 1)]


def test_lines_are_numbered_and_the_current_one_is_marked() -> None:
    assert numbered(["def f():", "    x = 1", "    return x"], 9, 10) == "9  def f():\n10>     x = 1\n11      return x"


def test_the_indentation_that_lines_share_is_left_out() -> None:
    assert numbered(["        x = 1\n", "\n", "            y = 2\n"], 3, 5) == "3  x = 1\n4\n5>     y = 2"
    assert numbered(["\tx", "\t\ty"], 1) == "1  x\n2  \ty"


def test_an_excerpt_has_the_lines_on_either_side_without_empty_ones_at_its_ends() -> None:
    lines = ["", "a", "", "b", "", "", "c"]
    assert numbered_excerpt(excerpt(lines, 4, 2)) == "2  a\n3\n4> b"
    assert numbered_excerpt(excerpt(lines, 2, 2)) == "2> a\n3\n4  b"
    assert numbered_excerpt(excerpt(lines, 3, 1)) == "2  a\n3>\n4  b"
    assert numbered_excerpt(excerpt(lines, 6, 1)) == "6>\n7  c"
    assert numbered_excerpt(excerpt(lines, 7, 3)) == "4  b\n5\n6\n7> c"
    assert numbered_excerpt(excerpt(lines, 9, 1)) == ""


def test_a_line_of_many_characters_is_cut() -> None:
    (line,) = numbered(["x" * 5000], 1).splitlines()
    assert line == f"1  {shortened('x' * 5000, MAX_LINE_LENGTH)}"
    assert len(line) < MAX_LINE_LENGTH + 50


def test_nothing_is_an_empty_string() -> None:
    assert joined([]) == {}
    assert in_order([]) == []


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=40), min_size=1),
    st.integers(1, 10**6),
)
def test_every_line_has_its_number(lines: list[str], first: int) -> None:
    shown = numbered(lines, first, first).split("\n")
    assert len(shown) == len(lines)
    even = textwrap.dedent("\n".join(lines)).split("\n")
    for number, (line, text) in enumerate(zip(shown, even, strict=True), first):
        assert line == f"{number}{'>' if number == first else ' '} {text}".rstrip()


def test_output_is_joined_by_stream() -> None:
    entries = written(("stdout", "a"), ("stderr", "b"), ("stdout", "c\n"), ("tracepoint", "x = 1\n"))
    assert joined(entries) == {"stdout": "ac\n", "stderr": "b", "log": "x = 1\n"}


def test_output_in_order_joins_what_one_stream_has_written_in_a_row() -> None:
    entries = written(("stdout", "a"), ("stdout", "b"), ("tracepoint", "x\n"), ("stdout", "c"))
    assert in_order(entries) == [{"stdout": "ab"}, {"log": "x\n"}, {"stdout": "c"}]


@given(st.lists(st.tuples(st.sampled_from(["stdout", "stderr", "console"]), st.text())))
def test_no_output_is_lost_and_none_changes_its_place(pieces: list[tuple[str, str]]) -> None:
    shown = in_order(written(*pieces))
    assert "".join(text for each in shown for text in each.values()) == "".join(text for _, text in pieces)
    streams = [stream for each in shown for stream in each]
    assert all(one != other for one, other in pairwise(streams))
    for stream, text in joined(written(*pieces)).items():
        assert text == "".join(each.get(stream, "") for each in shown)


def test_frames_of_the_debugger_in_a_traceback_are_counted_and_not_shown() -> None:
    pydevd = "/x/site-packages/debugpy/_vendored/pydevd"
    traceback = (
        "before\nTraceback (most recent call last):\n"
        f'  File "{pydevd}/pydevd.py", line 3852, in <module>\n    main()\n'
        f'  File "{pydevd}/_pydev_runpy.py", line 310, in run_path\n    return run(\n           ^^^^\n'
        '  File "kid.py", line 5, in <module>\n    half(7)\nZeroDivisionError: by zero\n'
    )
    assert without_debugger(traceback) == (
        "before\nTraceback (most recent call last):\n  [2 frames of the debugger]\n"
        '  File "kid.py", line 5, in <module>\n    half(7)\nZeroDivisionError: by zero\n'
    )
    one = f'  File "{pydevd}/pydevd.py", line 1, in main\n    main()\nError\n'
    assert without_debugger(one) == "  [1 frame of the debugger]\nError\n"
    group = f'  |   File "{pydevd}/pydevd.py", line 1, in main\n  |     main()\n  | Error\n'
    assert without_debugger(group) == "  |   [1 frame of the debugger]\n  | Error\n"
    runpy = '  File "/usr/lib/python3.11/runpy.py", line 88, in _run_code\n    exec(code, run_globals)\n'
    assert without_debugger(runpy + one) == "  [2 frames of the debugger]\nError\n", "it has started the debugger"
    for kept in ('  File "my_debugpy_notes.py", line 1, in main\n    main()\n', f"debugpy\n{runpy}Error\n"):
        assert without_debugger(kept) == kept


def test_lines_that_the_debugger_writes_to_stderr_are_left_out() -> None:
    noise = "1.83s - thread._ident is None in _get_related_thread! - thread: <Thread(w3, initial)>\n"
    entries = written(("stderr", f"one\n{noise}"), ("stderr", "two\n"))
    assert joined(entries) == {"stderr": "one\ntwo\n"}
    assert in_order(entries) == [{"stderr": "one\ntwo\n"}]


def test_what_the_debugger_says_of_an_evaluation_that_takes_long_is_left_out() -> None:
    note = (
        "Evaluating: (lambda probe: probe.evaluation.here(3, 'a\\nb'))(None) did not finish after 3.00 seconds.\n"
        "This may mean a number of things:\n- This evaluation is really slow and this is expected.\n\n"
        "    tries to interrupt the evaluation (if possible) when this happens.\n"
    )
    entries = written(("console", note), ("stdout", "one\n"), ("console", f"two\n{note}three\n"))
    assert joined(entries) == {"stdout": "one\n", "console": "two\nthree\n"}
    assert in_order(entries) == [{"stdout": "one\n"}, {"console": "two\nthree\n"}]
    assert joined(written(("stdout", "the job did not finish\n"))) == {"stdout": "the job did not finish\n"}


def test_what_the_debugger_says_of_a_condition_that_failed_is_left_out() -> None:
    head = "Error while evaluating expression in conditional breakpoint: "
    raised = 'Traceback (most recent call last):\n  File "<string>", line 1, in <module>\nNameError: no zz\n\n'
    parsed = '  File "<string>", line 1\n    zz >\n        ^\nSyntaxError: invalid syntax\n'
    for note in (
        f"pydevd: {head}zz > 3\n{raised}",
        f"{head}(guard and\nzz > 3\n)\n{raised}",
        f"pydevd: {head}zz >\n{parsed}",
    ):
        assert joined(written(("console", note), ("stdout", "one\n"))) == {"stdout": "one\n"}
        assert in_order(written(("console", f"two\n{note}"))) == [{"console": "two\n"}]
    between = written(("console", f"one\npydevd: {head}zz\n{raised}two\n\npydevd: {head}zz\n{raised}three\n"))
    assert joined(between) == {"console": "one\ntwo\n\nthree\n"}
    assert joined(written(("stdout", f"see: {head}\n"))) == {"stdout": f"see: {head}\n"}
