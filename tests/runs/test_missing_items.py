"""Of what is not in a container the answer has the condition that kept it out, in its own round or call."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.why import WhyAnswer, WhyQuestion, why

pytestmark = pytest.mark.real


def answer(program: str) -> WhyAnswer:
    return why(record(program, python(3, 13)).processes[0], WhyQuestion())


def texts(program: str) -> str:
    return "\n".join(map(str, answer(program).because))


ORDER = """\
NEEDS = {"ink": [], "pen": ["ink"], "box": ["pen", "ink"], "lid": ["box"]}


def order(needs):
    left = {name: len(of) for name, of in needs.items()}
    free = [name for name in left if left[name] == 0]
    done = []
    while free:
        name = free.pop()
        done.append(name)
        for other, of in needs.items():
            if name in of:
                left[other] -= 1
                if left[other] == 1:
                    free.append(other)
    COMPLAINT


order(NEEDS)
"""


@pytest.mark.parametrize(
    "complaint",
    [
        'raise ValueError("a cycle among " + ", ".join(sorted(set(needs) - set(done))))',
        'stuck = sorted(set(needs) - set(done)); raise ValueError(", ".join(stuck))',
        'raise ValueError(", ".join(name for name in needs if name not in done))',
    ],
)
def test_what_a_complaint_finds_missing_leads_to_the_round_that_left_it_out(complaint: str) -> None:
    told = texts(ORDER.replace("COMPLAINT", complaint))
    said = "if left[other] == 1: | false other='{0}' left[other]=0; so line 15 does not run for '{0}'"
    assert said.format("pen") in told or said.format("lid") in told


LOG = """\
class Till:
    def __init__(self):
        self.log = []

    def sell(self, names, limit):
        for name in names:
            if len(name) > limit:
                continue
            self.log.append((limit, name))


till = Till()
till.sell(["tea", "cake"], 3)
till.sell(["pie", "jam"], 4)
assert EXPECTED
"""


@pytest.mark.parametrize(
    "expected",
    [
        'till.log[:2] == [(3, "tea"), (3, "cake")]',
        '[row for row in till.log if row[0] == 3] == [(3, "tea"), (3, "cake")]',
    ],
)
def test_what_is_missing_in_a_part_of_a_list_is_looked_for_in_each_call_that_fills_it(expected: str) -> None:
    assert "if len(name) > limit: | true name='cake' limit=3" in texts(LOG.replace("EXPECTED", expected))


HANDED = """\
class Rows:
    def __init__(self, names):
        self.names = names

    def write(self, out):
        for name in self.names[1:1]:
            out.append(name)


def page(parts):
    out = []
    for part in parts:
        part.write(out)
    return "-".join(out)


assert page([Rows(["a", "b"])]) == "a-b"
"""


def test_a_container_that_a_call_was_given_and_did_not_fill_has_what_decided_that_there() -> None:
    assert "for name in self.names[1:1]: | ends; so line 7 does not run with out" in texts(HANDED)
    filled = HANDED.replace("[1:1]", "").replace('"a-b"', '"a-c"')
    assert "does not run" not in texts(filled)


JOINED = """\
def put(out, number):
    out.append(str(number * 2))


def page(numbers):
    out = ["<"]
    for number in numbers:
        put(out, number)
    out.append(">")
    return "".join(out)


assert page([1, 2, 3]) == "<234>", "no"
"""


def test_of_a_joined_text_the_part_is_followed_in_which_it_differs() -> None:
    assert "out.append(str(number * 2)) | [2]='4'" in texts(JOINED)


SEVERAL = """\
class Clock:
    def __init__(self):
        self.marks, self.now = [], 0

    def kind(self):
        return "wall"

    def go(self, steps):
        while len(self.marks) <= steps and self.now >= 0:
            self.marks.append(self.now)
            self.now += 2


clock = Clock()
clock.go(2)
assert (clock.now, clock.kind()) == (4, "wall")
"""


def test_of_a_tuple_only_the_item_that_differs_is_followed_to_the_condition_of_its_loop() -> None:
    told = answer(SEVERAL)
    assert told.value.endswith("[0] is 6, not 4")
    assert any("while len(self.marks) <= steps" in str(line) for line in told.because)
    assert not any('return "wall"' in str(line) for line in told.because)


FILTERED = """\
class Board:
    def __init__(self):
        self.rows = {}

    def take(self, name, value):
        self.rows[name] = {"last": value - 40}

    def alarm(self):
        return sorted(name for name, row in self.rows.items() if row["last"] >= 50)


board = Board()
for name, value in [("oven", 80), ("hall", 21)]:
    board.take(name, value)
assert board.alarm() == ["oven"]
"""


def test_what_is_missing_behind_a_filter_is_followed_in_its_own_round() -> None:
    assert """self.rows[name] = {"last": value - 40} | ['oven']={'last': 40}""" in texts(FILTERED)


OWN = """\
class Basket(dict):
    def put(self, name):
        if name != "fig":
            self[name] = 1
        if name == "kiwi":
            report(self)

    def text(self):
        return ",".join(self)


def report(basket):
    print(len(basket))


basket = Basket()
basket.put("plum")
basket.put("fig")
assert basket.text() == "plum,fig"
"""


def test_a_line_that_hands_the_object_itself_on_would_not_have_changed_it() -> None:
    assert "so line 6 does not run with self" not in texts(OWN)


@pytest.mark.parametrize("value", ['"plum"', "3", "None", "b'plum'"])
def test_what_a_lambda_returns_may_be_a_constant(value: str) -> None:
    program = f"make = lambda name: {value}\n\n\ndef made(name):\n    return make(name)\n\n\nassert made(1) == 'pear'\n"
    assert f"make = lambda name: {value}" in texts(program)
