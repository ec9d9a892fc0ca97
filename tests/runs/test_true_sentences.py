"""Sentences of an answer that say what did not happen, or when: where it is otherwise, they are not said."""

import ast

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing.shown.because_lines import because_line
from trio_debugmcp.runs.why import WhyAnswer, WhyQuestion, why

pytestmark = pytest.mark.real


def answer(source: str, expression: str = "") -> WhyAnswer:
    return why(record(source, python(3, 13)).processes[0], WhyQuestion(expression=expression, limit=30))


def notes(source: str, expression: str = "") -> str:
    return "\n".join(f"{line.line}: {note}" for line in answer(source, expression).because for note in line.notes)


# --- Not set anew -----------------------------------------------------------------------------------------------------

WRAP = """\
def wrap(words, width):
    lines = []
    line = []
    used = 0
    for word in words:
        needed = len(word) if not line else len(word) + 1
        if line and used + needed >= width:
            lines.append(line)
            line = []
            used = 0
            needed = len(word)
        line.append(word)
        used += needed
    if line:
        lines.append(line)
    return lines


lines = wrap("the ship lay at anchor off the cape".split(), 13)
assert lines[1] == ["at", "anchor", "off"]
"""


def test_what_was_set_anew_beside_something_else_is_not_said_to_have_been_left() -> None:
    assert "anew" not in notes(WRAP)


TOTALS = """\
totals = []
total = 0
for group in [[1, 2], [3, 4]]:
    RESET
    for number in group:
        total += number
    totals.append(total)
assert totals == [0]
"""


def test_a_sum_that_begins_anew_in_each_round_is_not_said_to_continue() -> None:
    assert "not set anew in a round of line 3" in notes(TOTALS.replace("RESET", "pass"))
    assert "anew" not in notes(TOTALS.replace("RESET", "total = 0"))


# --- Of another object ------------------------------------------------------------------------------------------------

EDITOR = """\
class Insert:
    def __init__(self, text):
        self.text = text

    def do(self, buffer):
        buffer.text = buffer.text + self.text


class Buffer:
    def __init__(self, text):
        self.text = text


buffer = Buffer("hello")
command = Insert(" world")
command.do(buffer)
assert (buffer.text, command.text) == ("hello", " there")
"""

MIXED_UP = """\
class Field:
    def __init__(self, text):
        self.text = text

    def change(self, edit):
        edit.text = self.text + edit.added


class Edit:
    def __init__(self, added):
        self.added = added


field = Field("hello")
edit = Edit(" world")
field.change(edit)
field.change(edit)
assert field.text == "hello world"
"""


def test_an_attribute_that_two_types_have_is_not_said_to_be_set_of_the_wrong_one() -> None:
    assert "sets .text" not in notes(EDITOR)


def test_an_attribute_that_was_given_to_another_type_names_both() -> None:
    assert "6: sets .text of <Edit>, not of <Field>" in notes(MIXED_UP)


# --- Changed since ----------------------------------------------------------------------------------------------------

BALANCES = """\
class Printer:
    def __init__(self):
        self.balance = 0
        self.rows = []
        self.fee = 1

    def start(self):
        self.rows.append("opening")
        self.balance = 0

    def close(self):
        self.balance -= self.fee
        self.rows.append("closing")
        return self.balance


def balances(entries):
    printer = Printer()
    closing = {}
    for name, amount in entries:
        printer.balance += amount
        closing[name] = printer.close()
        printer.start()
    LATER
    return closing


closing = balances([("ann", 5), ("bob", 7)])
assert closing["ann"] == 5
"""


def test_what_a_computation_changes_itself_is_not_said_to_have_changed_since() -> None:
    assert "changed since" not in notes(BALANCES.replace("LATER", "pass"))


def test_what_a_computation_only_reads_is_said_to_have_changed_since() -> None:
    assert "24: changed since #" in notes(BALANCES.replace("LATER", "printer.fee = 0"))


# --- Decided ----------------------------------------------------------------------------------------------------------

RAISES = """\
order = []
while order or order[0]:
    pass
"""


def test_a_condition_that_raised_is_neither_true_nor_false() -> None:
    condition = next(line for line in answer(RAISES).because if line.line == 2)
    assert condition.values[0].startswith("raises IndexError")


def test_a_condition_whose_block_raised_is_true() -> None:
    source = "order = []\nif not order:\n    order[0]\n"
    condition = next(line for line in answer(source).because if line.line == 2)
    assert condition.values[0] == "true"


def test_a_condition_that_is_asked_about_has_one_colon() -> None:
    past = record("order = []\nif not order:\n    order.append(1)\n", python(3, 13)).processes[0]
    asked = next(line for line in why(past, WhyQuestion(file="program.py", line=3)).because if line.line == 2)
    assert why(past, WhyQuestion(at=int(asked.at[1:]))).value == "if not order: true order=[]"


# --- Blocks on the line of their head ---------------------------------------------------------------------------------

ONE_LINERS = """\
def rest(rows, flag, found):
    for row in rows:
        if row == 2: continue
        if flag: print(row)
        if row == 4: break
        if not rows: return 1
    else: print("all")
    if (m := len(found)) > 50: pass
    if m: print(m)
    elif flag: print(flag)
    if flag: m = 5
    else: m = 6
    try:
        try: found["x"]
        except ValueError: pass
    except LookupError: pass
    try: found["x"]
    except KeyError: return 2
    finally: print("over")


def empty(items):
    if items: print(items)
    if not items: return None
    print("full")


rest([1, 2, 4, 5], True, {})
empty([])
n = 0
while (n := n + 1) < 5: pass
assert n == 4
"""


def outcomes(source: str) -> list[str]:
    """Return what each condition and handler of a program is said to have decided, in the order of time."""
    past = PastProcess(record(source, python(3, 13)).processes[0])
    executions = filter(None, map(past.executions.at, range(past.record.first, past.record.last + 1)))
    lines = [because_line(past, execution.row) for execution in executions if is_decision(execution.statement.node)]
    return [f"{line.line}: {line.values[0]}" for line in lines]


def is_decision(node: ast.AST) -> bool:
    return isinstance(node, ast.If | ast.While | ast.ExceptHandler)


def test_the_outcome_of_a_block_on_the_line_of_its_head_is_the_true_one_or_none() -> None:
    assert outcomes(ONE_LINERS) == [
        *("3: false", "4: true", "5: false", "6: false", "3: true", "3: false", "4: true", "5: true"),
        *("8: m=0", "9: false", "10: true", "11: true"),
        *("15: does not catch KeyError('x')", "16: catches KeyError('x')", "18: catches KeyError('x')"),
        *("23: false", "24: true", "31: false"),
    ]


# --- Not set, as its line raised --------------------------------------------------------------------------------------

SWALLOWED = """\
def port(settings):
    found = 80
    try:
        found = int(settings["port"])
    except KeyError: pass
    return found


value = port({})
assert value != 80
"""


def test_a_line_whose_exception_was_kept_is_why_a_name_has_still_its_old_value() -> None:
    assert notes(SWALLOWED).splitlines() == ["4: so found is not set", "5: caught its exception"]


def test_a_line_that_has_raised_and_has_run_again_since_is_not_said_to_have_left_a_name_unset() -> None:
    source = SWALLOWED.replace("value = ", "port({})\nvalue = ").replace(
        "value = port({})", 'value = port({"port": 80})'
    )
    assert "not set" not in notes(source)


# --- Given back before a finally --------------------------------------------------------------------------------------

RELEASED = """\
def doubled(number):
    try:
        if number > 3:
            return number * 2
    finally:
        left = 0
    return left


value = doubled(NUMBER)
assert not value
"""


@pytest.mark.parametrize(("number", "lines"), [(5, [3, 4, 10]), (1, [6, 7, 10])])
def test_a_value_comes_from_the_return_and_not_from_the_finally_behind_it(number: int, lines: list[int]) -> None:
    because = answer(RELEASED.replace("NUMBER", str(number)), "value").because
    assert sorted({line.line for line in because} - {11}) == lines


# --- Did not run ------------------------------------------------------------------------------------------------------

CACHED = """\
import functools

BASE = {"tandem": 100, "helm": 60, "lock": 25}


def cached(function):
    kept = {}

    def get(product):
        if product not in kept:
            kept[product] = function(product)
        return kept[product]

    return get


@cached
def base_price(product):
    return BASE[product]


@functools.cache
def weight(product):
    return len(product)


prices = []
weights = []
for name in ("helm", "lock", "tandem"):
    prices.append((name, base_price(name)))
    first = weight(name)
weights.append(("lock", weight("lock")))
found = prices[1], weights[0]
"""


def test_a_cached_function_that_ran_within_its_cache_is_not_said_to_have_not_run() -> None:
    said = [note for line in answer(CACHED, "prices[1]").because for note in line.notes]
    assert not any("did not run" in note for note in said)


def test_of_a_cached_call_in_another_call_the_run_with_its_arguments_is_shown() -> None:
    lines = answer(CACHED, "weights[0]").because
    assert [line.values for line in lines if any("did not run" in note for note in line.notes)] == [["-> 4"]]


# --- Reads it when it is called ---------------------------------------------------------------------------------------

RATES = """\
class Jobs:
    def __init__(self):
        self.done = []

    def run(self, job):
        self.done.append(str(job()))


def main():
    jobs, rates = Jobs(), []
    for n in (1, 0, 2):
        def job():
            return 4 * n
        jobs.run(job)
        def rate():
            return 7 * n
        rates.append(rate)
    first = rates[1]
    now = first()
    late = [each() for each in rates]
    return jobs, now, late


main()
"""


@pytest.mark.parametrize("expression", ["jobs.done[0]", "jobs.done[1]", "jobs.done[2]"])
def test_a_function_that_is_called_before_its_variable_changes_is_not_said_to_read_it_late(expression: str) -> None:
    assert "when it is called" not in notes(RATES, expression)


def test_of_several_functions_of_one_definition_the_one_that_was_called_has_read_its_variable_late() -> None:
    assert "15: reads n when it is called: then 2, here 0" in notes(RATES, "now")
    assert "15: reads n when it is called: then 2, here 1" in notes(RATES, "late[0]")


# --- Set after all ----------------------------------------------------------------------------------------------------

HANDLERS = """\
class Box:
    def __init__(self):
        self.failed = 0
        self.kinds = 0

    def post(self, text):
        try:
            int(text)
        except TypeError:
            self.failed += 10
        except ValueError:
            text = text.strip()
            self.failed += 1

    def sort(self, kind):
        match kind:
            case 1:
                kind = 2
                self.kinds += 1
            case _:
                kind = 1
                self.kinds += 2


box = Box()
box.post("x")
box.sort(3)
found = box.failed, box.kinds
"""


def test_an_attribute_that_a_handler_or_a_case_sets_next_is_not_said_to_be_unset_there() -> None:
    said = notes(HANDLERS, "box.failed") + notes(HANDLERS, "box.kinds")
    assert "not set at line 10" in said
    assert "not set at line 19" in said
    assert "not set at line 13" not in said
    assert "not set at line 22" not in said


# --- Calls itself -----------------------------------------------------------------------------------------------------

TASKS = """\
class Tree:
    def __init__(self, *kids):
        self.kids = kids

    def size(self):
        if not self.kids:
            return 1
        return sum(map(Tree.size, self.kids))


def fetch(name):
    yield "waits"
    return len(name)


def result_of(task):
    try:
        return next(task)
    except StopIteration as end:
        return end.value


def choose(text):
    chosen = None
    if text:
        chosen = 1
        if text == "b":
            chosen = 2
    return chosen


tasks = [fetch("tea"), fetch("cups")]
waiting = [result_of(task) for task in tasks]
first = result_of(tasks[0])
size = Tree(Tree(), Tree(Tree())).size()
chosen = choose("")
found = first, size, chosen
"""


def test_what_runs_beside_a_call_of_its_function_is_not_a_recursion_of_it() -> None:
    assert "ends the recursion" not in notes(TASKS, "first")
    assert "7: ends the recursion" in notes(TASKS, "size")


def test_what_is_not_set_at_several_lines_is_said_once() -> None:
    assert notes(TASKS, "chosen") == "25: so chosen is not set at lines 26, 28"


# --- Raised nothing ---------------------------------------------------------------------------------------------------

CAUGHT_LATER = """\
def named(names):
    out = []
    try:
        for name in names:
            out.append(name.strip())
        CHECK
    except AttributeError:
        out.append("?")
    return out


names = named(["Cleo", None])
assert names == ["Cleo"]
"""


def test_a_block_that_raises_later_is_not_said_to_have_raised_nothing() -> None:
    process = record(CAUGHT_LATER.replace("CHECK", "out.sort()"), python(3, 13)).processes[0]
    shown = why(process, WhyQuestion(limit=30)).because
    moments = [int(line.at[1:]) for line in shown if line.line == 5]
    within = [line for at in moments for line in why(process, WhyQuestion(expression="out", at=at, limit=30)).because]
    assert within
    assert "raised nothing" not in "\n".join(map(str, [*shown, *within]))


def test_a_block_that_has_raised_nothing_is_said_to() -> None:
    harmless = CAUGHT_LATER.replace("None]", '" Dan "]').replace("CHECK", "return out")
    assert "raised nothing, so line 8 does not run" in notes(harmless)


# --- The end of an asynchronous iterator ------------------------------------------------------------------------------

ASYNC_ROWS = """\
import asyncio


async def rows(count):
    for number in range(count):
        await asyncio.sleep(0)
        yield number


async def collected():
    got = [row async for row in rows(2)]
    return got


async def first_of_none():
    got = [await anext(rows(0)) async for row in rows(2)]
    return got


result = asyncio.run(CALLED())
assert result == [0, 1, 2]
"""


def test_a_comprehension_that_has_come_to_the_end_is_not_said_to_have_raised() -> None:
    (line,) = [str(line) for line in answer(ASYNC_ROWS.replace("CALLED", "collected")).because if line.line == 11]
    assert "then got=[0, 1]" in line
    assert "raise" not in line


def test_one_that_an_end_has_left_is_said_to() -> None:
    lines = [str(line) for line in answer(ASYNC_ROWS.replace("CALLED", "first_of_none")).because if line.line == 16]
    assert "raises StopAsyncIteration()" in "".join(lines)


# --- Set through what is called ---------------------------------------------------------------------------------------

SETTER = """\
class Options:
    def __init__(self):
        self._size = 1

    @property
    def size(self):
        return self._size

    @size.setter
    def size(self, value):
        self._size = value * 2


def change(options, name, value):
    setattr(options, name, value)


options = Options()
change(options, "size", 4)
CHANGE
size = options.size
assert size == 4
"""


def test_a_setattr_that_calls_the_setter_of_a_property_is_not_said_to_set_something_else() -> None:
    assert "sets another" not in notes(SETTER.replace("CHANGE", ""))
    assert "15: sets another attribute than ._size" in notes(SETTER.replace("CHANGE", 'change(options, "sise", 5)'))


# --- An assertion that raised something else --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("test", "raised"),
    [("days['b'] == 2", "KeyError('b')"), ("int('x') == 2", "ValueError("), ("days['a'] == 2", "")],
)
def test_an_assertion_whose_operand_raises_has_not_failed(test: str, raised: str) -> None:
    found = answer(f"days = {{'a': 1}}\nassert {test}, days\n")
    last = str(found.because[-1])
    assert ("raises" in last, "fails" in last) == (bool(raised), not raised)
    assert found.value.startswith(raised or "assert days['a'] == 2")


PAGES = """\
class Pages:
    def __init__(self):
        self.left = 2

    def __iter__(self):
        return self

    def __next__(self):
        if not self.left:
            raise StopIteration
        self.left -= 1
        return self.left


pages = Pages()
first = [page for page in pages]
second = [page for page in pages]
assert second, first
"""


def test_the_end_of_an_iterator_is_not_raised_by_the_comprehension_that_goes_through_it() -> None:
    (line,) = [str(line) for line in answer(PAGES).because if line.source.startswith("second = ")]
    assert line.split(" | ")[2].startswith("second=[]")
    assert "raises" not in line
