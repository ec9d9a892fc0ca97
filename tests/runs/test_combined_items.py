"""Of a line that makes one value of a few items the answer has each of them, and the line that computed it."""

from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

PROGRAM = """\
class Line:
    def __init__(self, text, cents):
        self.text = text
        self.cents = cents


class Invoice:
    def __init__(self):
        self.lines = []

    def add(self, text, cents):
        self.lines.append(Line(text, cents))

    @property
    def net(self):
        return sum(line.cents for line in self.lines)


def share(days):
    return 900 * days // 30


def bill(name, days, used):
    invoice = Invoice()
    invoice.add("plan", share(days))
    invoice.add("usage", used * 2)
    if name != "eve":
        invoice.add("gift", -50)
    return invoice


def run(people):
    return {name: bill(name, days, used).net for name, days, used in people}


def longest(words):
    sizes = []
    for word in words:
        sizes.append(len(word))
    return max(sizes)


def joined(words):
    parts = {}
    parts["head"] = words[0].upper()
    parts["tail"] = words[-1].lower()
    return "-".join(parts.values())


def doubled(number):
    return number * 2


def doubled_sum(numbers):
    return sum(doubled(number) for number in numbers)


def plain_sum(numbers):
    return sum(number for number in numbers)


totals = run([("ada", 30, 7), ("bob", 10, 9), ("eve", 20, 1)])
size = longest(["pen", "paper"])
code = joined(["ab", "CD"])
twice = doubled_sum([3, 4])
plain = []
plain.append(len(code))
plain.append(size)
once = plain_sum(plain)
many = sum(number * 2 for number in range(30))
"""


@cache
def recorded(version: tuple[int, int]) -> ProcessRecord:
    return record(PROGRAM, python(*version)).processes[0]


def answer(expression: str, version: tuple[int, int] = (3, 13)) -> list[str]:
    return list(map(str, why(recorded(version), WhyQuestion(expression=expression)).because))


def line(lines: list[str], source: str) -> str:
    return next((text for text in lines if f"| {source}" in text), "")


@pytest.mark.parametrize("version", [(3, 12), (3, 13)])
def test_all_that_went_into_a_sum_is_named_and_followed_through_calls_that_only_passed_it_on(
    version: tuple[int, int],
) -> None:
    lines = answer("totals['bob']", version)
    assert "-> 268; of 3 items: 300 (#" in line(lines, "return sum(")
    assert ", 18 (#" in line(lines, "return sum(")
    assert "-> 300" in line(lines, "return 900 * days // 30")  # the first of three items


def test_a_property_of_the_result_of_a_call_is_that_of_the_round_of_the_wanted_item() -> None:
    assert "-> 602; of 2 items: 600 (#" in line(answer("totals['eve']"), "return sum(")
    assert "-> 864; of 3 items: 900 (#" in line(answer("totals['ada']"), "return sum(")
    assert not line(answer("totals['eve']"), 'invoice.add("gift", -50)')  # of the others


def test_items_of_a_container_lead_to_what_has_put_them_there() -> None:
    assert "-> 5; of 2 items: 3 (#" in line(answer("size"), "return max(sizes)")
    lines = answer("code")
    head, tail = line(lines, 'parts["head"] ='), line(lines, 'parts["tail"] =')
    numbers = [text.partition(" ")[0] for text in (head, tail)]
    assert f"of 2 items: 'AB' ({numbers[0]}), 'cd' ({numbers[1]})" in line(lines, 'return "-".join(')


def test_results_of_calls_lead_to_the_lines_that_returned_them() -> None:
    lines = answer("twice")
    number = line(lines, "return number * 2").partition(" ")[0]
    assert "of 2 items: 6 (#" in line(lines, "return sum(")
    assert f", 8 ({number})" in line(lines, "return sum(")
    lines = answer("once")
    number = line(lines, "plain.append(size)").partition(" ")[0]
    assert f", 5 ({number})" in line(lines, "return sum(")


def test_of_many_items_nothing_is_said() -> None:
    assert "items:" not in "\n".join(answer("many"))
