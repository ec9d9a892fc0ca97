"""A value that is missing, though a call or a generator was given it: what decided there that it is kept nowhere."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

TREE = """\
class Node:
    def __init__(self, key):
        self.key, self.left, self.right = key, None, None


def insert(node, key):
    if node is None:
        return Node(key)
    if key < node.key:
        node.left = insert(node.left, key)
    elif key > node.key + 1:
        node.right = insert(node.right, key)
    return node


def keys(node):
    if node is not None:
        yield from keys(node.left)
        yield node.key
        yield from keys(node.right)


root = None
for key in [5, 2, 8, 6, 9, 3]:
    root = insert(root, key)
assert list(keys(root)) == [2, 3, 5, 6, 8, 9]
"""

GUARDED = """\
seen = {}


def note(word):
    if len(word) < 4:
        seen[word] = True


def hand_on(word):
    note(word)


for word in ["one", "three", "two"]:
    hand_on(word)
assert sorted(seen) == ["one", "three", "two"]
"""

KEPT = """\
kept = []
odd = []


def keep(n):
    kept.append(n)
    if n % 2:
        odd.append(n)


for n in [1, 2]:
    keep(n)
kept.remove(2)
assert kept == [1, 2]
"""


WORDS = """\
def words(text):
    for word in text.split():
        if word.islower():
            yield word


assert {expression} == ["one", "Two", "six"]
"""


def lines_of(program: str) -> list[str]:
    return [str(line) for line in why(record(program, python(3, 13)).processes[0], WhyQuestion()).because]


@pytest.mark.parametrize(
    ("program", "condition", "note"),
    [
        (TREE, "elif key > node.key + 1: | false key=3 node.key=2", "so line 12 does not run for 3"),
        (GUARDED, "if len(word) < 4: | false", "so line 6 does not run for 'three'"),
    ],
)
def test_the_condition_in_the_innermost_call_that_was_given_it_is_named(
    program: str, condition: str, note: str
) -> None:
    lines = lines_of(program)
    assert [line for line in lines if condition in line and note in line], lines


def test_of_a_call_that_has_kept_it_nothing_is_said() -> None:
    assert not [line for line in lines_of(KEPT) if "does not run for" in line]


@pytest.mark.parametrize("expression", ["list(words('one Two six'))", "list(w for w in words('one Two six'))"])
def test_what_a_generator_has_not_given_is_what_is_missing(expression: str) -> None:
    answer = why(record(WORDS.format(expression=expression), python(3, 13)).processes[0], WhyQuestion())
    assert answer.value.endswith("it has no 'Two'")
    assert [line for line in map(str, answer.because) if "false word='Two'; so line 4 does not run" in line]


def test_of_a_generator_that_was_not_drawn_empty_nothing_is_missing() -> None:
    program = "def count():\n    yield 10\n    yield 20\n\n\nassert list(zip(count(), [1])) == [(20, 1)]"
    answer = why(record(program, python(3, 13)).processes[0], WhyQuestion())
    assert "it has no" not in answer.value
