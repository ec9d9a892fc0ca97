"""A container of a class that all its instances share is followed through each of them."""

from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.why import WhyAnswer, WhyQuestion, why

pytestmark = pytest.mark.real

SHARED = """\
class Book:
    waiting = []
    lent = {}

    def __init__(self, title):
        self.title = title

    def reserve(self, name):
        self.waiting.append(name)

    def lend(self, name):
        self.lent[self.title] = name


class Guide(Book):
    waiting = ["nobody"]

    @classmethod
    def reserve_all(cls, name):
        cls.lent["all"] = name


emma, walden, map_of_rome = Book("Emma"), Book("Walden"), Guide("Rome")
emma.reserve("ann")
walden.reserve("cleo")
first = walden.waiting[0]
of_guide = map_of_rome.waiting[0]
Guide.reserve_all("dora")
lent = map_of_rome.lent["all"]
emma.lend("eve")
Book.lent = {}
walden.lend("fay")
count = len(emma.lent)
emma.waiting = ["gil"]
own = emma.waiting[0]
del emma.waiting
again = emma.waiting[0]
"""


@cache
def shared() -> ProcessRecord:
    return record(SHARED, python(3, 13)).processes[0]


def answer(expression: str) -> WhyAnswer:
    return why(shared(), WhyQuestion(expression=expression, limit=30))


def lines(expression: str) -> list[int]:
    return sorted({cause.line for cause in answer(expression).because})


def test_an_item_that_another_instance_has_put_there_names_its_call() -> None:
    assert answer("first").value == "first='ann'"
    assert {2, 9, 24} <= set(lines("first"))
    assert [cause.notes for cause in answer("first").because if cause.line == 2] == [["all instances share it"]]
    assert 25 not in lines("first"), "cleo is another item"


def test_a_subclass_has_its_own() -> None:
    assert answer("of_guide").value == "of_guide='nobody'"
    assert 16 in lines("of_guide")
    assert 9 not in lines("of_guide")


def test_what_a_base_class_has_is_followed_through_a_class() -> None:
    assert answer("lent").value.startswith("lent='dora' (in the module")
    assert answer("lent").gaps == []
    assert 20 in lines("lent")


def test_another_container_that_the_class_was_given_leaves_no_gap() -> None:
    found = answer("count")
    assert found.value == "count=1"
    assert found.gaps == []
    assert {12, 31, 32} <= set(lines("count"))


def test_an_attribute_of_the_instance_hides_that_of_the_class_as_long_as_it_is_there() -> None:
    assert answer("own").value == "own='gil'"
    assert 34 in lines("own")
    assert {9, 24} <= set(lines("again"))
    assert 34 not in lines("again")
