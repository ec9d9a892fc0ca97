"""A recursion that had no end: the answer names the calls that repeat, with what, and what has begun them."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing.origins.recursion_edges import recursion_raised
from trio_debugmcp.runs.slicing.run_failures import failure
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

TREE = """\
def walk(node, depth):
    return parse(node, depth + 1)
def parse(node, depth):
    return walk(node["l"], depth)
tree = {"v": 1}
tree["l"] = tree
def start(tree):
    return walk(tree, 0)
start(tree)
"""

CHAIN = """\
def product(n, unit=1):
    return n * product(n + 1)
product(3)
"""

RAISED = "RecursionError('maximum recursion depth exceeded"

VERSIONS = pytest.mark.parametrize("version", [(3, 12), (3, 13)])


@VERSIONS
def test_functions_that_call_each_other_for_ever_are_named_with_the_object_that_stays_the_same(
    version: tuple[int, int],
) -> None:
    answer = why(record(TREE, python(*version)).processes[0], WhyQuestion())
    assert answer.value.startswith(RAISED)
    assert "): walk -> parse -> walk, at least " in answer.value
    assert "; node is the same {'v': 1, 'l': dict of 2} each time; depth=0, 1, 2, …, " in answer.value
    notes = {line.line: line.notes for line in answer.because}
    assert "puts it into itself" in notes[6]
    assert "begins these calls" in notes[8]


def test_the_exception_is_named_where_the_recorder_had_no_room_to_write_that_it_was_raised() -> None:
    past = PastProcess(record(TREE, python(3, 13)).processes[0])
    failed = failure(past)
    assert failed is not None
    execution = past.executions.at(failed.row)
    assert execution is not None
    value, _ = recursion_raised(past, "return walk(node)", "maximum recursion depth exceeded", execution)
    assert value.startswith(f"{RAISED}'): walk -> parse -> walk, at least ")
    assert recursion_raised(past, "return walk(node)", "division by zero", execution) == ("return walk(node)", [])


@VERSIONS
def test_a_function_that_calls_itself_for_ever_is_named_with_the_arguments_that_change(
    version: tuple[int, int],
) -> None:
    answer = why(record(CHAIN, python(*version)).processes[0], WhyQuestion())
    assert "): product -> product, at least " in answer.value
    assert "; n=3, 4, 5, …, " in answer.value
    assert answer.value.endswith("; unit=1 each time")
    assert any("begins these calls" in line.notes for line in answer.because)


def test_a_recursion_error_of_the_program_itself_has_no_calls_that_repeat() -> None:
    answer = why(record("raise RecursionError('no end of it')\n", python(3, 13)).processes[0], WhyQuestion())
    assert answer.value == "RecursionError('no end of it')"
