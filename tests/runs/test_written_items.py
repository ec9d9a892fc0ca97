"""Of a value with items or fields, only the expression that has made the wanted one is followed."""

import ast

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.slicing.origins.written_items import inner
from trio_debugmcp.runs.why import WhyAnswer, WhyQuestion, why

MAKERS = """\
from dataclasses import dataclass
from types import SimpleNamespace
from typing import NamedTuple

def numbers(n):
    total = 0
    for i in range(n):
        total += i
    return [total, n]

def words(n):
    made = []
    for i in range(n):
        made.append("w" * i)
    return made

@dataclass
class Report:
    numbers: list
    words: list

class Pair(NamedTuple):
    numbers: list
    words: list

class Plain:
    def __init__(self, numbers, words):
        self.numbers = numbers
        self.words = words

def entries(n):
    return {"numbers": numbers(n), "words": words(n)}

def keywords(n):
    return dict(numbers=numbers(n), words=words(n))

def spread(n):
    return {**keywords(n), "more": numbers(n + 1)}

def nested(n):
    return {"of": {"words": words(n), "numbers": numbers(n)}, "more": numbers(n + 1)}

def report(n):
    return Report(numbers(n), words(n))

def pair(n):
    return Pair(numbers(n), words(n))

def plain(n):
    return Plain(numbers(n), words(n))

def space(n):
    return SimpleNamespace(numbers=numbers(n), words=words(n))

def two(n):
    return numbers(n), words(n)

"""


def answer(code: str) -> WhyAnswer:
    process = record(MAKERS + code, python(3, 13)).processes[0]
    return why(process, WhyQuestion())


@pytest.mark.real
@pytest.mark.parametrize(
    "read",
    [
        'entries(3)["words"]',
        'keywords(3)["words"]',
        'spread(3)["words"]',
        'nested(3)["of"]["words"]',
        "report(3).words",
        "pair(3).words",
        "pair(3)[1]",
        "space(3).words",
        "two(3)[1]",
    ],
)
def test_what_has_made_another_item_of_the_value_is_not_in_the_answer(read: str) -> None:
    maker, _, rest = read.partition("(3)")
    lines = [line.source for line in answer(f"value = {maker}(3)\nassert value{rest} == ['x']\n").because]
    assert any('made.append("w" * i)' in line for line in lines)
    assert not any("total" in line for line in lines)


@pytest.mark.real
@pytest.mark.parametrize("read", ["report(3).words", "pair(3).words", "nested(3)['of']['words']"])
def test_a_call_of_which_a_field_is_read_is_followed_to_that_field_only(read: str) -> None:
    lines = [line.source for line in answer(f"assert {read} == ['x']\n").because]
    assert any('made.append("w" * i)' in line for line in lines)
    assert not any("total" in line for line in lines)


@pytest.mark.real
def test_of_a_class_with_code_of_its_own_the_field_is_followed_from_where_it_is_set() -> None:
    lines = [line.source for line in answer("value = plain(3)\nassert value.words == ['x']\n").because]
    assert "self.words = words" in lines
    assert 'made.append("w" * i)' in lines
    assert "self.numbers = numbers" not in lines


@pytest.mark.real
def test_of_two_calls_of_a_function_on_a_line_that_which_made_the_item_is_followed() -> None:
    code = 'value = {"p": numbers(2), "q": numbers(5), "r": numbers(3)}\nassert value["q"] == [9, 5]\n'
    because = answer(code).because
    total = next(line for line in because if line.source == "total += i")
    assert "total=10" in total.values
    assert not any("round" in note for line in because for note in line.notes), "each call was made once"


@pytest.mark.parametrize(
    ("written", "path", "made", "rest"),
    [
        ("{'a': x, 'b': y}", ("['b']", "[0]"), "y", ("[0]",)),
        ("{'b': x, **others}", ("['b']",), None, None),
        ("{**others, 'b': x}", ("['b']",), "x", ()),
        ("{**others, 'b': x}", ("['c']",), "others", ("['c']",)),
        ("{**others, key: x}", ("['c']",), None, None),
        ("{**others, **more}", ("['c']",), None, None),
        ("dict(a=x, b=y)", ("['b']",), "y", ()),
        ("dict(a=x)", ("['b']",), None, None),
        ("[x, *y]", ("[0]",), None, None),
        ("(x, y)", ("[1]",), "y", ()),
        ("f(x).rows['k']", (), "f(x).rows", ("['k']",)),
        ("Report(x, y)", (".words",), None, None),
    ],
)
def test_an_item_is_made_by_the_expression_that_is_written_for_it(
    written: str, path: tuple[str, ...], made: str | None, rest: tuple[str, ...] | None
) -> None:
    found = inner(ast.parse(written, mode="eval").body, path, lambda _: [])
    assert (found and (ast.unparse(found[0]), found[1])) == (made and (made, rest))
