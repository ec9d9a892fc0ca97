"""What every tool answers in which state: what tests/real/test_tools.py runs, and docs/tools.md shows.

A program is paused at a line, moved to an exception, and then runs for ever. `EXPECTED` has every tool with arguments
that are right for that program, the code of its failure without a session, while it is paused and while it runs, and
calls that fail while it is paused. Mistakes that many tools answer alike are found by their parameters.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

PROGRAM = """\
import time


class Basket:
    def __init__(self):
        self.owner = "ben"
        self.lines = [1, 2, 3]


def visit(basket, count):
    total = 0
    total += count  # here
    total += 1  # after
    return total


visit(Basket(), 3)
try:
    raise ValueError("sold out")
except ValueError:
    pass
while True:
    time.sleep(0.01)  # for ever
"""

FILE = "app.py"
"""Stands for the path of the program."""

ID = "an id"
"""Stands for the id of a breakpoint."""


def line(mark: str) -> int:
    (number,) = [number for number, text in enumerate(PROGRAM.splitlines(), 1) if f"# {mark}" in text]
    return number


HERE: dict[str, Any] = {"file": FILE, "line": line("here")}
AFTER: dict[str, Any] = {"file": FILE, "line": line("after")}
MISSING: dict[str, Any] = {"file": "/nowhere.py", "line": 1}

ELSEWHERE = "elsewhere"
"""In place of a code: another test has the tool in that state."""

Calls = tuple[tuple[dict[str, Any], str], ...]


class Expected(NamedTuple):
    """The codes of a tool's failures; None: it succeeds."""

    arguments: dict[str, Any]
    without: str | None = "NO_SESSION"
    paused: str | None = None
    running: str | None = None
    mistakes: Calls = ()
    moves: bool = False


def _looking(expression: str | None = None, *mistakes: tuple[dict[str, Any], str]) -> Expected:
    """A tool that looks at the paused program."""
    return Expected({"expression": expression} if expression else {}, running="NOT_PAUSED", mistakes=mistakes)


def _refused(arguments: dict[str, Any]) -> Expected:
    """A tool that needs another client."""
    code = "INVALID_PARAMETER"
    return Expected(arguments, without=code, paused=code, running=code)


EXPECTED: dict[str, Expected] = {
    "debug_launch": Expected(
        {"program": FILE},
        without=ELSEWHERE,
        paused="SESSION_ACTIVE",
        running="SESSION_ACTIVE",
        mistakes=(
            ({"program": FILE, "code": "1", "replace": True}, "INVALID_PARAMETER"),
            ({"program": "/nowhere/app.py", "replace": True}, "INVALID_PATH"),
            ({"program": FILE, "adapter": "cobol", "replace": True}, "ADAPTER_NOT_FOUND"),
            ({"program": FILE, "replace": True, "breakpoints": [{**HERE, "condition": "a b"}]}, "INVALID_CONDITION"),
        ),
    ),
    "debug_configurations": Expected({}, without=None),
    "debug_attach": Expected(
        {"port": 9}, without="ATTACH_FAILED", paused="SESSION_ACTIVE", running="SESSION_ACTIVE"
    ),
    "debug_listen": Expected({}, without=ELSEWHERE, paused="SESSION_ACTIVE", running="SESSION_ACTIVE"),
    "debug_disconnect": Expected({}, without=None, paused=ELSEWHERE, running=ELSEWHERE),
    "debug_restart": Expected(
        {}, paused=ELSEWHERE, running=ELSEWHERE, mistakes=(({"frame_index": 77}, "INVALID_FRAME"),)
    ),
    "debug_state": Expected({}, without=None),
    "debug_continue": Expected(
        {"wait": False}, running="NOT_PAUSED", moves=True, mistakes=(({"reverse": True}, "NOT_SUPPORTED"),)
    ),
    "debug_step": Expected(
        {}, running="NOT_PAUSED", moves=True,
        mistakes=(
            ({"mode": "sideways"}, "INVALID_PARAMETER"),
            ({"mode": "back"}, "NOT_SUPPORTED"),
            ({"mode": "in", "target": "nope"}, "INVALID_PARAMETER"),
        ),
    ),
    "trace_function": Expected(
        {**HERE, "timeout": 0.2}, moves=True,
        mistakes=(({"function": "nope"}, "INVALID_PARAMETER"), (MISSING, "INVALID_PATH")),
    ),
    "debug_run_to": Expected(AFTER, running="NOT_PAUSED", moves=True, mistakes=((MISSING, "INVALID_PARAMETER"),)),
    "debug_run_until": Expected(
        {**AFTER, "expression": "total"}, running="NOT_PAUSED", moves=True,
        mistakes=(
            ({**MISSING, "expression": "total"}, "INVALID_PATH"),
            ({**AFTER, "expression": "a b"}, "INVALID_CONDITION"),
        ),
    ),
    "batch_evaluate": Expected(
        {"experiments": [{**AFTER, "capture": ["total"]}], "timeout": 0.5}, without=ELSEWHERE, moves=True,
        mistakes=(
            ({"experiments": [MISSING]}, "INVALID_PATH"),
            ({"experiments": [{**AFTER, "condition": "a b"}]}, "INVALID_CONDITION"),
            ({"experiments": [AFTER], "launch": {"program": FILE}}, "SESSION_ACTIVE"),
        ),
    ),
    "debug_goto": Expected(
        {"line": line("after")}, running="NOT_PAUSED", moves=True,
        mistakes=(({"line": 4000}, "INVALID_PARAMETER"),),
    ),
    "debug_wait": Expected({"timeout": 0.1}, mistakes=(({"breakpoint_id": "bp-77"}, "BREAKPOINT_NOT_FOUND"),)),
    "breakpoint_wait": Expected({"timeout": 0.1}, mistakes=(({"breakpoint_id": "bp-77"}, "BREAKPOINT_NOT_FOUND"),)),
    "debug_pause": Expected({}, paused="ALREADY_PAUSED", running=ELSEWHERE),
    "breakpoint_set": Expected(
        HERE, without=None,
        mistakes=(
            (MISSING, "INVALID_PATH"),
            ({"file": FILE}, "INVALID_PARAMETER"),
            ({**HERE, "condition": "a b"}, "INVALID_CONDITION"),
            ({**HERE, "hit_condition": "often"}, "INVALID_CONDITION"),
            ({"address": "0x1000"}, "NOT_SUPPORTED"),
        ),
    ),
    "tracepoint_set": Expected(
        {**AFTER, "log_message": "{total}"}, without=None,
        mistakes=((dict(MISSING, log_message="x"), "INVALID_PATH"), (HERE, "INVALID_PARAMETER")),
    ),
    "breakpoint_set_exception": Expected(
        {"exception_type": "ValueError"}, without=None,
        mistakes=(({"exception_type": "OSError", "condition": "a b"}, "INVALID_CONDITION"),),
    ),
    "breakpoint_set_data": Expected({"variable": "count"}, paused="NOT_SUPPORTED", running="NOT_PAUSED"),
    "breakpoint_enable": Expected({"id": ID}, without=None, mistakes=(({"id": "bp-77"}, "BREAKPOINT_NOT_FOUND"),)),
    "breakpoint_edit": Expected(
        {"id": ID}, without=None,
        mistakes=(({"id": "bp-77"}, "BREAKPOINT_NOT_FOUND"), ({"id": "ex-3"}, "INVALID_PARAMETER")),
    ),
    "breakpoint_remove": Expected({"id": ID}, without=None, mistakes=(({"id": "bp-77"}, "BREAKPOINT_NOT_FOUND"),)),
    "breakpoint_list": Expected({}, without=None),
    "stacktrace_get": Expected({}),
    "threads_list": Expected({}),
    "fleet_state": Expected({}),
    "tasks_list": Expected({}),
    "variables_get": _looking(None, ({"path": "nope.x"}, "EVAL_FAILED"), ({"path": "f()"}, "INVALID_PARAMETER")),
    "variable_set": Expected(
        {"path": "count", "value": "4"}, running="NOT_PAUSED",
        mistakes=(
            ({"path": "count + 1", "value": "1"}, "INVALID_PARAMETER"),
            ({"path": "nope", "value": "1"}, "EVAL_FAILED"),
        ),
    ),
    "evaluate": Expected(
        {"expression": "1 + 1"},
        mistakes=(({"expression": "all(True for _ in iter(int, 1))", "timeout": 0.1}, "EVAL_TIMEOUT"),),
    ),
    "evaluate_safe": Expected(
        {"expression": "1 + 1"}, mistakes=(({"expression": "basket.lines.append(1)"}, "SAFE_EVAL_REJECTED"),)
    ),
    "object_inspect": _looking("basket"),
    "collection_summarize": _looking("basket.lines", ({"expression": "count"}, "INVALID_PARAMETER")),
    "type_get": Expected(
        {"expression": "str"},
        mistakes=(
            ({"expression": "print(1)"}, "SAFE_EVAL_REJECTED"),
            ({"expression": "nope"}, "EVAL_FAILED"),
        ),
    ),
    "references_get": Expected(
        {"expression": "str", "count": 1},
        mistakes=(
            ({"expression": "1"}, "INVALID_PARAMETER"),
            ({"expression": "print(1)"}, "SAFE_EVAL_REJECTED"),
            ({"expression": "nope"}, "EVAL_FAILED"),
        ),
    ),
    "snapshot_create": Expected({}, running="NOT_PAUSED"),
    "snapshot_diff": Expected(
        {"before": "snap-1", "after": "snap-1"},
        without="SNAPSHOT_NOT_FOUND", paused=ELSEWHERE, running="SNAPSHOT_NOT_FOUND",
        mistakes=(({"before": "snap-1", "after": "snap-77"}, "SNAPSHOT_NOT_FOUND"),),
    ),
    "snapshot_list": Expected({}, without=None),
    "snapshot_delete": Expected(
        {"id": "*"}, without=None, mistakes=(({"id": "snap-77"}, "SNAPSHOT_NOT_FOUND"),)
    ),
    "stop_get": Expected(
        {}, without=ELSEWHERE, paused=None,
        mistakes=(({"stop": 999_999}, "STOP_NOT_FOUND"), ({"session_id": "s-77"}, "NO_SESSION")),
    ),
    "symbols_search": Expected({"pattern": "visit"}),
    "exception_get_context": Expected({}, without="NO_EXCEPTION", paused="NO_EXCEPTION", running="NOT_PAUSED"),
    "source_get": Expected(
        {"file": FILE},
        mistakes=(({"file": "/etc/passwd"}, "INVALID_PATH"), ({"file": FILE, "start_line": 4000}, "INVALID_PARAMETER")),
    ),
    "modules_list": Expected({}),
    "sources_list": Expected({}),
    "why": Expected(
        {}, without="RUN_NOT_FOUND", paused="RUN_NOT_FOUND", running="RUN_NOT_FOUND",
        mistakes=(({"line": 3}, "INVALID_PARAMETER"), ({"at": "soon"}, "INVALID_PARAMETER")),
    ),
    "history_get": Expected(
        {"expression": "total"}, without="RUN_NOT_FOUND", paused="RUN_NOT_FOUND", running="RUN_NOT_FOUND",
        mistakes=(
            ({"expression": "x", "function": "y"}, "INVALID_PARAMETER"),
            ({"expression": "x", "where": "f(x)"}, "INVALID_CONDITION"),
        ),
    ),
    "calls_get": Expected(
        {}, without="RUN_NOT_FOUND", paused="RUN_NOT_FOUND", running="RUN_NOT_FOUND",
        mistakes=(({"where": "x >"}, "INVALID_CONDITION"), ({"under": "here"}, "INVALID_PARAMETER")),
    ),
    "run_goto": Expected(
        {}, without="RUN_NOT_FOUND", paused="RUN_NOT_FOUND", running="RUN_NOT_FOUND",
        mistakes=(({"run": "run-9"}, "RUN_NOT_FOUND"), ({"move": "up"}, "INVALID_PARAMETER")),
    ),
    "run_compare": Expected(
        {"good": "run-1", "bad": "run-2"}, without="RUN_NOT_FOUND", paused="RUN_NOT_FOUND", running="RUN_NOT_FOUND"
    ),
    "debug_hunt": Expected(
        {"program": "no.py"}, without="INVALID_PATH", paused="INVALID_PATH", running="INVALID_PATH",
        mistakes=(
            ({"code": "x = 1", "program": "a.py"}, "INVALID_PARAMETER"),
            ({"code": "x = 1", "until": "f(x)"}, "INVALID_CONDITION"),
            ({"code": "x = 1", "address": "tcp://127.0.0.1:1"}, "INVALID_PARAMETER"),
        ),
    ),
    "run_list": Expected({}, without=None),
    "debug_record": Expected(
        {"on": False}, paused="RUN_NOT_FOUND", running="RUN_NOT_FOUND", mistakes=(({"max_mb": 0}, "INVALID_PARAMETER"),)
    ),
    "memory_read": Expected({"address": "0x1000"}, paused="NOT_SUPPORTED", running="NOT_PAUSED"),
    "memory_write": Expected({"address": "0x1000", "data": "00"}, paused="NOT_SUPPORTED", running="NOT_PAUSED"),
    "disassemble": Expected({}, paused="NOT_SUPPORTED", running="NOT_PAUSED"),
    "process_read_output": Expected({}, without=None),
    "process_write_input": Expected({"data": "x"}),
    "observe_link": Expected(
        {"origin": "http://127.0.0.1:1"}, without=None, mistakes=(({"origin": "nowhere"}, "INVALID_PARAMETER"),)
    ),
    "timeline_query": Expected({}, without=None),
    "debug_more": Expected({}, without=None, mistakes=(({"tool": "thread_list"}, "INVALID_PARAMETER"),)),
    "card_state": Expected({}, without=None),
    "card_run": Expected(
        {"action": "pause"}, paused="ALREADY_PAUSED", running=ELSEWHERE,
        mistakes=(({"action": "over"}, "NOT_PAUSED"), ({"action": "over", "stop": "s-1 1.5 1 1"}, "NOT_PAUSED")),
    ),
    "person_join": Expected({"key": "tab-number-one"}, without=None),
    "ask_person": Expected({"question": "why?", "timeout": 0}, without=None),
    "session_hold": Expected({}),
    "session_hand_back": Expected({}, without=ELSEWHERE),
    "agent_message": _refused({"text": "to nobody"}),
    "person_answer": _refused({"id": "q-77"}),
}  # fmt: skip

PROVEN_ELSEWHERE = {
    ("debug_launch", "PERMISSION_DENIED"): "test_programs_and_sources_outside_the_roots_are_refused",
    ("batch_evaluate", "NO_SESSION"): "test_without_anything_to_run_a_batch_says_how_to_start",
    ("debug_launch", "LAUNCH_FAILED"): "test_an_interpreter_that_does_not_run_fails_the_launch_at_once_with_its_words",
    ("breakpoint_edit", "INVALID_CONDITION"): "test_an_edit_changes_what_is_named_and_leaves_it_to_its_owner",
    ("observe_link", "NOT_SUPPORTED"): "test_a_link_is_of_a_page_only",
    ("debug_record", "NOT_SUPPORTED"): "test_a_program_that_cannot_be_recorded_is_refused_before_anything_ends",
    ("trace_function", "NOT_SUPPORTED"): "test_other_languages_have_no_trace",
    ("process_write_input", "STDIN_CLOSED"): "test_every_tool_succeeds_where_it_can_and_gives_each_of_its_codes",
}
"""Codes that need another program or server, and the test that has them."""

ANY = {
    "INVALID_PARAMETER": "a parameter that is not known, of another type, or over its bounds",
    "READ_ONLY": "the connection may only observe",
    "HELD": "a person holds the session, and the call would move or change the program: `details` has who, since when",
    "TOO_MANY_CALLS": "a hundred calls of this connection are under way",
    "ADAPTER_FAILED": "the debug adapter refused a request",
    "ADAPTER_GONE": "the debug adapter ended during the call",
    "TIMEOUT": "the debug adapter, or the probe in the program, did not answer in time",
    "INTERNAL": "a bug of this server",
}
"""Codes of any tool; tests/faults has those of an adapter that misbehaves."""

MEANINGS = {
    "NO_SESSION": "there is no debug session, or none of that id",
    "SESSION_ACTIVE": "there is one already",
    "NOT_PAUSED": "the program runs; `details.currentState`",
    "ALREADY_PAUSED": "it is paused",
    "INVALID_PATH": "there is no such file, or it does not belong to the program",
    "INVALID_CONDITION": "a condition, hit condition or message that does not parse",
    "INVALID_THREAD": "there is no such thread; the message has those that there are",
    "INVALID_FRAME": "there is no such frame",
    "BREAKPOINT_NOT_FOUND": "there is no such breakpoint; the message has the ids",
    "SNAPSHOT_NOT_FOUND": "there is no such snapshot; the message has the ids",
    "RUN_NOT_FOUND": "there is no such recorded run, or it is kept no longer; the message has those that there are",
    "STOP_NOT_FOUND": "there has not been such a stop, or it is kept no longer; `details` has the first and the last",
    "NO_EXCEPTION": "the program is not stopped at an exception, and was not ended by one",
    "EVAL_FAILED": "the expression does not parse, or raised",
    "EVAL_TIMEOUT": "it did not finish in time, and was interrupted where that is possible",
    "SAFE_EVAL_REJECTED": "it could change the program or run its code; `details` has the part and the rule",
    "NOT_SUPPORTED": "the debug adapter cannot; the message names it, and what is missing",
    "ADAPTER_NOT_FOUND": "no adapter for the program; the message has the command that installs one",
    "LAUNCH_FAILED": "the program did not start",
    "ATTACH_FAILED": "there is no such process, or nothing listens there",
    "PERMISSION_DENIED": "it is outside of `serve --root`",
    "STDIN_CLOSED": "the program's standard input is closed",
}


def common_mistakes(tool: str, parameters: Iterable[str]) -> Iterator[tuple[dict[str, Any], str]]:
    """What tools that have a parameter answer alike, while the program is paused."""
    parameters = set(parameters)
    given = EXPECTED[tool].arguments
    yield {**given, "nonsense": 1}, "INVALID_PARAMETER"
    if "session_id" in parameters:
        yield {**given, "session_id": "s-77"}, "NO_SESSION"
    if EXPECTED[tool].paused is not None:
        return
    if "thread_id" in parameters and tool != "timeline_query":
        yield {**given, "thread_id": 777}, "INVALID_THREAD"
    if "frame_index" in parameters and tool != "debug_restart":
        yield {**given, "frame_index": 77}, "INVALID_FRAME"
    if "expression" in parameters and not EXPECTED[tool].moves:
        yield {**given, "expression": "nope"}, "EVAL_FAILED"
        yield {**given, "expression": "1 +"}, "EVAL_FAILED"


def codes(tool: str, parameters: Iterable[str]) -> set[str]:
    """Every code that a tool can give, but those of any."""
    expected = EXPECTED[tool]
    found = {expected.without, expected.paused, expected.running}
    found |= {code for _, code in [*expected.mistakes, *common_mistakes(tool, parameters)]}
    found |= {code for name, code in PROVEN_ELSEWHERE if name == tool}
    return {code for code in found if code is not None} - {ELSEWHERE, *ANY}
