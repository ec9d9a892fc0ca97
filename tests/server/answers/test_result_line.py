"""What came of a call, in one line for a person."""

import json
from pathlib import Path
from typing import Any

import pytest

from trio_debugmcp.server.answers.result_line import result_line
from trio_debugmcp.server.call_result import ToolResult

GOLDEN = Path(__file__).parents[2] / "data" / "answers"

LINES = {
    "batch_evaluate": "Paused Step shop.py:16 in work · ended complete · 1 experiment · held meanwhile: bp-1",
    "breakpoint_enable": "bp-2 · shop.py:14 · basket.put(product, count) · Disabled",
    "breakpoint_list": "5 breakpoints",
    "breakpoint_list_empty": "0 breakpoints",
    "breakpoint_remove": "removed bp-1, bp-2, fn-3, tp-4, ex-5",
    "breakpoint_set_pending": "bp-2 · shop.py:17 · Pending · no code here",
    "debug_attach": "Running · pid 4242",
    "debug_continue_data": "Paused DataBreakpoint shop.py:15 in visit · count = 1, not changed",
    "debug_continue_exception": "Paused Exception ValueError: bad, shop.py:10 in visit · "
    "count = 1, basket = Basket(owner='ben', lines=[2 items]), name = 'ben' (Name)",
    "debug_continue_exit": "exited with 3",
    "debug_continue_signal": "ended by SIGSEGV",
    "debug_continue_timeout": "still running when the time was over",
    "debug_disconnect": "ended",
    "debug_disconnect_none": "ended · there was no session",
    "debug_run_until": "Paused Step shop.py:16 in work · holds · looks 4",
    "debug_state_none": "no session",
    "error": "There is no file '$DIR/nowhere.py'. Pass the path of a source file.",
    "evaluate": "1",
    "evaluate_type": "'ben'",
    "memory_read": "0x1008 · 74656100 0c0d0e0f",
    "process_read_output": "1 entry",
    "references_get": "Basket(...) · 2 of 9 inbound · 1 outbound",
    "snapshot_create": "snap-1 · label snapshot-1 · shop.py:15 in visit · variables 3",
    "source_get": "file shop.py · 3 of 24 lines",
    "stacktrace_get_page": "1 of 2 frames",
    "symbols_search": "1 type · 1 function · 3 in all",
    "variable_set": "count = 1",
    "variables_get": "3 variables",
    "variables_get_page": "1 of 3 variables",
}


def line_of(answer: dict[str, Any], tool: str = "", *, failed: bool = False) -> str:
    result = ToolResult(text=json.dumps(answer), structured_content=answer, is_error=failed)
    return result_line(result, tool)


@pytest.mark.parametrize("name", LINES)
def test_an_answer_is_a_line_that_says_what_came_of_the_call(name: str) -> None:
    answer = json.loads((GOLDEN / f"{name}.json").read_text())
    assert line_of(answer, failed="error" in answer and isinstance(answer["error"], dict)) == LINES[name]


def test_one_of_many_is_counted_in_the_singular() -> None:
    one = {"classes": ["1 stopped"], "entries": ["a b"], "processes": ["p q"], "frames": ["f g"]}
    assert line_of(one) == "1 class · 1 entry · 1 process · 1 frame"


def test_no_answer_is_without_a_line_and_none_has_two() -> None:
    for file in GOLDEN.glob("*.json"):
        line = line_of(json.loads(file.read_text()))
        assert line, file.name
        assert line.splitlines() == [line]


def test_a_line_has_the_first_values_and_counts_the_others() -> None:
    stop = {"state": "Paused", "at": "a.py:1", "locals": {name: name * 100 for name in "abcd"}}
    a, b, c = (f"{name} = {name * 59}…" for name in "abc")
    assert line_of(stop) == f"Paused a.py:1 · {a}, {b}, {c} and 1 more"
    assert line_of({"state": "Paused", "at": "a.py:1", "show": {"x": "1"}, "locals": {"y": "2"}}).endswith("· x = 1")


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        ("/usr/lib/x.py:3 in f", "x.py:3 in f"),
        ("lib/x.py:3 in f", "lib/x.py:3 in f"),
        (r"C:\src\x.py:3 in f", "x.py:3 in f"),
        ("0x1004 in main", "0x1004 in main"),
    ],
)
def test_of_an_absolute_place_the_file_is_named(at: str, shown: str) -> None:
    assert line_of({"state": "Paused", "at": at}) == f"Paused {shown}"


def test_a_long_exception_leaves_room_for_its_place() -> None:
    stop = {"state": "Paused", "reason": "Exception", "exception": "E: " + "x" * 500, "at": "a.py:1 in f"}
    assert line_of(stop) == f"Paused Exception E: {'x' * 116}…, a.py:1 in f"
    ended = {"state": "Disconnected", "reason": "Exited", "exitCode": 1, "exception": "E: x\ny"}
    assert line_of(ended) == "exited with 1: E: x⏎y"
    assert (
        line_of({"state": "Disconnected", "reason": "Exited", "notes": ["lost", "more"]})
        == "ended · lost (1 more note)"
    )


def test_a_moment_is_a_time_of_the_day() -> None:
    line = result_line(ToolResult(structured_content={"since": "2026-11-23T04:32:14.123456+00:00"}))

    assert line == "since 04:32:14 UTC"


def test_an_answer_that_is_not_an_object_has_a_line_too() -> None:
    assert result_line(ToolResult()) == "done"
    assert result_line(ToolResult(text="not JSON", is_error=True)) == "not JSON"
    assert result_line(ToolResult(is_error=True)) == "failed because of a bug in the debugger"


def test_what_other_clients_did_is_not_what_came_of_the_call() -> None:
    others = ["mcp called debug_launch", "another mcp called debug_step 2 times", "3 other calls: see timeline_query"]
    assert line_of({"state": "Running", "notes": others}) == "Running"
    notes = [others[0], "bp-1 is not bound", "a", "b"]
    assert line_of({"state": "Running", "notes": notes}) == "Running · bp-1 is not bound (2 more notes)"


@pytest.mark.parametrize(
    ("tool", "answer", "line"),
    [
        ("session_hold", {"since": "2026-01-01T00:00:00Z"}, "holds the session"),
        ("session_hand_back", {"seconds": 3.178}, "handed back, held for 3 s"),
        ("agent_message", {"id": "m-2", "agents": 1}, "goes to 1 agent"),
        ("person_answer", {"id": "q-5"}, "answered"),
        ("process_write_input", {"bytesWritten": 4}, "wrote 4 bytes"),
        ("process_write_input", {"bytesWritten": 1, "stdinClosed": True}, "wrote 1 byte and closed the input"),
        ("stop_get", {"values": ["1 a.py:1: 0", "2 a.py:2: 4"], "stops": 3}, "2 values over 3 stops"),
        ("stop_get", {"file": "/src/a.py", "version": "9d", "text": "n = 0\n"}, "a.py as it ran then"),
        ("stop_get", {"values": ["9 a.py:1: 0"], "stops": 30, "total": 20}, "1 of 20 values over 30 stops"),
        (
            "stop_get",
            {"stop": 1, "last": 2, "reason": "Breakpoint", "at": "a.py:14 in f", "locals": {"n": "0"}, "stack": ["g"]},
            "stop 1 of 2 · Breakpoint a.py:14 in f · n = 0",
        ),
        (
            "stop_get",
            {
                "stop": {
                    "stop": 3,
                    "reason": "Exception",
                    "exception": {"type": "KeyError", "message": "'x'"},
                    "location": {"file": "/src/a.py", "line": 14, "functionName": "f", "moduleName": "a"},
                    "locals": [{"name": "n", "value": "0"}],
                    "frames": [],
                },
                "first": 1,
                "last": 3,
                "dropped": 0,
            },
            "stop 3 of 3 · Exception KeyError: 'x', a.py:14 in f · n = 0",
        ),
        ("debug_step", {"state": "Paused", "at": "a.py:1", "returned": {"f": "9.5"}}, "Paused a.py:1 · f returned 9.5"),
        ("debug_step", {"state": "Paused", "at": "a.py:1", "yielded": {"f": "9.5"}}, "Paused a.py:1 · f yielded 9.5"),
        (
            "debug_continue",
            {"state": "Running", "timedOut": True, "threads": ["1 MainThread a.py:1 in f, waits for input('? ')"]},
            "still running when the time was over · MainThread a.py:1 in f, waits for input('? ') · 1 thread",
        ),
    ],
)
def test_keys_that_say_nothing_to_people_are_sentences(tool: str, answer: dict[str, Any], line: str) -> None:
    assert line_of(answer, tool) == line


def test_the_stop_that_an_answer_ends_with_is_shown_as_a_stop() -> None:
    stop = {"state": "Paused", "reason": "Step", "at": "fib.py:6 in <module>", "locals": {"n": "3"}, "source": "> 6"}
    traced = {"function": "fib fib.py:1", "calls": [{"returned": "2"}], "stop": stop}
    line = "function fib fib.py:1 · 1 call · Paused Step fib.py:6 in <module> · n = 3"
    assert result_line(ToolResult(structured_content=traced), "trace_function") == line
