"""Questions to a recorded run: why a line ran, why it did not, and what cannot be answered."""

import re
from functools import cache

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.files.process_record import LINE, START, ProcessRecord
from trio_debugmcp.runs.files.row_search import each
from trio_debugmcp.runs.why import NoAnswerError, WhyAnswer, WhyQuestion, why

pytestmark = pytest.mark.real

CHECKOUT = """\
LIMITS = {"gold": 500, "basic": 100}


def limit(customer):
    return LIMITS[customer["level"]]


def check(customer, amount):
    if amount <= 0:
        return "nothing to pay"
    if amount > limit(customer):
        return "too much"
    return "fine"


def unused(amount):
    return amount + 1


def bill(customer, amounts):
    total = 0
    for amount in amounts:
        if amount is None:
            continue
        total += amount
    verdict = check(customer, total)
    if verdict == "fine":
        customer["paid"] = total
    return verdict


ada = {"level": "basic"}
verdict = bill(ada, [60, None, 70])
if verdict == "never":
    unused(3)
print(verdict)
"""


@cache
def checkout() -> ProcessRecord:
    return record(CHECKOUT, python(3, 12)).processes[0]


def lines(answer: WhyAnswer) -> list[int]:
    return [line.line for line in answer.because]


def test_a_value_is_followed_through_calls_and_conditions() -> None:
    answer = why(checkout(), WhyQuestion(expression="verdict"))
    assert answer.value.startswith("verdict='too much' (in the module; a variable verdict is also in bill (at=\"#")
    assert {11, 12, 25} <= set(lines(answer))


def moment_of(process: ProcessRecord, text: str, line: int, nth: int = 0) -> int:
    """The nth run of a line of a program, as a row."""
    (site,) = [site.number for code in process.codes for site in process.sites_of(code.number) if site.line == line]
    assert text in (process.source(process.site(site).code) or "").splitlines()[line - 1]
    return list(each(process, LINE, site))[nth]


def test_a_line_that_ran_elsewhere_is_asked_about_in_one_round_and_in_one_call() -> None:
    process = checkout()
    file = process.codes[0].file
    skipped = moment_of(process, "if amount is None", 23, 1)
    answer = why(process, WhyQuestion(file=file, line=25, at=skipped))
    assert answer.value == f"line 25 did not run in the round of #{skipped}: decided at line 24"
    assert [line.values for line in answer.because if line.line == 23] == [["true", "amount=None"]]
    calling = moment_of(process, "verdict = check", 26)
    answer = why(process, WhyQuestion(file=file, line=13, at=calling))
    assert answer.value == f"line 13 did not run in the call of #{calling}: decided at line 12"
    ran = why(process, WhyQuestion(file=file, line=25, at=moment_of(process, "if amount is None", 23, 0)))
    assert ran.value == f"why #{moment_of(process, 'total += amount', 25, 0)} ran: total += amount: total=60"


def test_of_an_item_that_was_never_seen_it_is_said_what_is_there_instead() -> None:
    with pytest.raises(NoAnswerError, match=r"""no 'zone' was seen in ada=\{'level': .*why\(expression='ada'\)"""):
        why(checkout(), WhyQuestion(expression='ada["zone"]'))


def test_lines_stand_in_the_order_of_time_and_have_numbers_for_the_next_question() -> None:
    answer = why(checkout(), WhyQuestion(expression="verdict"))
    numbers = [int(line.at[1:]) for line in answer.because]
    assert numbers == sorted(numbers)


def test_a_condition_says_how_it_was_decided_and_what_its_calls_returned() -> None:
    answer = why(checkout(), WhyQuestion(expression="verdict"))
    (line,) = [line for line in answer.because if line.line == 11]
    assert line.values[0] == "true"
    assert "limit -> 100" in line.values


def test_a_line_that_did_not_run_names_the_condition_that_decided_against_it() -> None:
    answer = why(checkout(), WhyQuestion(file="program.py", line=28))
    assert answer.value.startswith("line 28 did not run")
    assert 27 in lines(answer)
    assert 12 in lines(answer)


def test_a_line_behind_a_continue_names_that() -> None:
    source = "for n in (1, 2):\n    if n:\n        continue\n    print(n)\n"
    answer = why(record(source, python(3, 13)).processes[0], WhyQuestion(file="program.py", line=4))
    assert {2, 3} <= set(lines(answer))


def test_a_line_behind_a_return_names_the_return() -> None:
    answer = why(checkout(), WhyQuestion(file="program.py", line=13))
    assert answer.value.startswith("line 13 did not run")
    assert 11 in lines(answer)


def test_a_line_of_a_function_that_was_never_called_names_what_would_have_called_it() -> None:
    answer = why(checkout(), WhyQuestion(file="program.py", line=17))
    assert "never called" in answer.value
    assert 34 in lines(answer)


def test_a_line_that_ran_is_asked_why_it_ran() -> None:
    answer = why(checkout(), WhyQuestion(file="program.py", line=12))
    assert answer.value.startswith("why ")
    assert 11 in lines(answer)


def test_the_second_question_does_not_repeat_the_lines_of_the_first() -> None:
    first = why(checkout(), WhyQuestion(expression="verdict", limit=5))
    shown = frozenset(int(line.at[1:]) for line in first.because)
    second = why(checkout(), WhyQuestion(at=min(shown), known=shown))
    assert not shown & {int(line.at[1:]) for line in second.because}


def test_what_is_left_out_is_counted() -> None:
    answer = why(checkout(), WhyQuestion(expression="verdict", limit=2))
    assert len(answer.because) == 2
    assert answer.omitted > 0


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (WhyQuestion(), "nothing failed in this run"),
        (WhyQuestion(expression="nowhere"), "has no value of nowhere"),
        (WhyQuestion(expression="a +"), "cannot be read as an expression"),
        (WhyQuestion(at=10**6), "and no #1000000"),
        (WhyQuestion(file="other.py", line=3), "no statement"),
        (WhyQuestion(file="program.py", line=2), "program.py:2 has no"),
    ],
)
def test_what_cannot_be_answered_says_what_to_ask(question: WhyQuestion, words: str) -> None:
    with pytest.raises(NoAnswerError, match=words):
        why(checkout(), question)


CAUGHT = """\
def number(text):
    try:
        return int(text)
    except ValueError:
        return 0


def first(items):
    return next(iter(items), None)


total = sum([number(text) for text in ("1", "x", "y")])
try:
    {}[total]
except KeyError:
    first([])
"""


def test_a_run_in_which_no_code_of_the_project_ran_says_so() -> None:
    process = record("raise SystemExit(4)", python(3, 13), root="/elsewhere").processes[0]
    with pytest.raises(NoAnswerError, match=r"in which no line of the code below .* says why .*, or the code is"):
        why(process, WhyQuestion())


def test_a_run_without_a_failure_tells_the_exceptions_that_were_caught_as_a_lead() -> None:
    process = record(CAUGHT, python(3, 13)).processes[0]
    with pytest.raises(NoAnswerError) as caught:
        why(process, WhyQuestion())
    told = re.search(
        r"nothing failed in this run; 3 exceptions were raised in it and caught: "
        r"KeyError\(1\) at program.py:14 \(#\d+\), "
        r"ValueError\(.*'y'.*\) at program.py:3 \(#(\d+), the last of 2\): name what is wrong",
        str(caught.value),
    )
    assert told is not None, caught.value
    assert why(process, WhyQuestion(at=int(told[1]))).value.startswith("return int(text): raises ValueError(")


def test_a_value_that_no_recorded_line_changed_is_a_gap_between_two_lines() -> None:
    source = (
        "class Box:\n    pass\n\nbox = Box()\nput = getattr(box, '__set' + 'attr__')\nbox.n = 1\n"
        "put('n', 5)\nassert box.n == 1\n"
    )
    answer = why(record(source, python(3, 12)).processes[0], WhyQuestion())
    (gap,) = answer.gaps
    assert gap.startswith("box.n was found changed at #")
    assert "(program.py:8) since #" in gap
    assert not [line for line in answer.because if line.line == 6]


def test_a_value_that_is_as_it_was_and_may_have_been_written_again_is_a_gap_that_says_so() -> None:
    source = (
        "class Box:\n    pass\n\nboxes = [Box() for _ in range(60)]\nbox = boxes[0]\n"
        "for each in boxes:\n    each.n = 1\n"
        "iter(boxes).__next__().n = 5\niter(boxes).__next__().n = 1\nassert box.n == 2\n"
    )
    answer = why(record(source, python(3, 13)).processes[0], WhyQuestion())
    (gap,) = answer.gaps
    assert gap.startswith("box.n may have been written again before #")
    assert not [line for line in answer.because if line.line == 7]


def test_a_condition_that_led_to_a_line_is_not_said_to_have_decided_against_it() -> None:
    source = "seen = []\nfor n in range(3):\n    if n > 0:\n        seen.append(n)\nassert seen == [1]\n"
    answer = why(record(source, python(3, 13)).processes[0], WhyQuestion())
    assert not [line for line in answer.because if line.values[:1] == ["true"] and line.notes]


def test_the_value_that_is_asked_about_is_as_it_was_then() -> None:
    source = "seen = []\nfor n in range(3):\n    seen.append(n)\nprint(seen)\n"
    answer = why(record(source, python(3, 13)).processes[0], WhyQuestion(expression="seen"))
    assert answer.value == "seen=list of 3"


def test_the_number_of_a_call_asks_why_it_was_called() -> None:
    process = checkout()
    start = next(number for number in range(1, process.last) if process.row(number).kind == START)
    called = next(
        number
        for number in range(start + 1, process.last)
        if process.row(number).kind == START and process.code(process.row(number).key).name == "check"
    )
    answer = why(process, WhyQuestion(at=called))
    assert answer.value.startswith("the call of check")
    assert 26 in lines(answer)


def test_a_condition_on_one_line_with_its_block_says_whether_that_ran() -> None:
    source = "def f(t):\n    r = 0\n    if t > 3: r = 1\n    return r\n\n\nf({})\n"
    question = WhyQuestion(file="program.py", line=3)
    said = [why(record(source.format(t), python(3, 12)).processes[0], question).value for t in (9, 1)]
    assert [": true" in value for value in said] == [True, False]


def test_a_property_is_not_taken_for_what_stands_in_the_instance() -> None:
    getter = "class P:\n    @property\n    def x(self):\n        return 300\n"
    source = f"{getter}\n\np = P()\nvars(p)['x'] = 3\ny = p.x\nassert y == 3\n"
    process = record(source, python(3, 13)).processes[0]
    assert why(process, WhyQuestion(expression="p.x")).value.startswith("p.x=300 (read at #")


def test_a_secret_is_not_written_under_another_name_either() -> None:
    start = "def key(api_key):\n    return api_key\n\n\nAPI_KEY = 'hunter9' + 'SECRET'\n"
    source = f"{start}q = key(API_KEY)\nassert q == 1\n"
    answer = why(record(source, python(3, 13)).processes[0], WhyQuestion())
    assert "hunter9SECRET" not in "\n".join(map(str, answer.because))


# --- Causes that nothing has looked at --------------------------------------------------------------------------------


def notes(source: str) -> list[str]:
    answer = why(record(source, python(3, 12)).processes[0], WhyQuestion())
    return [f"{line.line}: {note}" for line in answer.because for note in line.notes]


def test_a_setattr_that_has_set_the_attribute_is_not_said_to_have_set_another() -> None:
    source = "class O:\n    pass\n\n\no = O()\nfor name in ('y', 'x'):\n    setattr(o, name, 1)\nassert o.x == 2\n"
    assert not [note for note in notes(source) if "another attribute" in note]


def test_a_generator_is_used_up_by_what_has_taken_it_and_not_by_what_has_taken_its_twin() -> None:
    start = "def numbers():\n    yield 1\n    yield 2\n\n\none = numbers()\ntwo = numbers()\n"
    assert "8: used it up" in notes(f"{start}list(one)\nassert sum(one) == 3\n")
    assert not [note for note in notes(f"{start}list(two)\nassert not one\n") if note.startswith("8:")]


def test_a_finally_does_not_keep_an_exception() -> None:
    work = "def work(o):\n    try:\n        int('x')\n        o.done = True\n    finally:\n        o.tries = 1\n"
    start = f"class O:\n    def __init__(self):\n        self.done = False\n\n\n{work}\n\no = O()\n"
    source = f"{start}try:\n    work(o)\nexcept ValueError:\n    pass\nassert o.done\n"
    assert not [note for note in notes(source) if "caught its exception" in note]


def test_only_a_decorator_that_caches_answers_from_a_cache() -> None:
    look = "def look(get):\n    value = get('k')\n    assert value == 2\n"
    get = f"\ndef get(key):\n    return 1\n\n\n{look}\n\nget('k')\nlook({{'k': 1}}.get)\n"
    register = "def register(function):\n    return function\n\n\n@register"
    cached = "from functools import cache\n\n\n@cache"
    assert not [note for note in notes(f"{register}{get}") if "cache" in note]
    used = "\ndef get(key):\n    return 1\n\n\nget('k')\nvalue = get('k')\nassert value == 2\n"
    assert [note for note in notes(f"{cached}{used}") if "cache" in note]


def test_what_put_a_function_in_an_attribute_is_that_of_the_object_in_question() -> None:
    button = "class Button:\n    def __init__(self, action):\n        self.action = action\n\n\n"
    actions = "def first():\n    return 1\n\n\ndef second():\n    return 2\n\n\n"
    use = "one = Button(first)\ntwo = Button(second)\nassert one.action() == 2\n"
    process = record(f"{button}{actions}{use}", python(3, 12)).processes[0]
    put = [line for line in why(process, WhyQuestion()).because if any("action" in note for note in line.notes)]
    assert [line.values for line in put] == [[".action=<function first>"]]


def test_lines_that_an_earlier_answer_has_shown_are_counted() -> None:
    first = why(checkout(), WhyQuestion(expression="verdict"))
    shown = frozenset(int(line.at[1:]) for line in first.because)
    second = why(checkout(), WhyQuestion(expression="verdict", known=shown))
    assert second.repeated == len(shown)


def test_a_line_that_ran_in_an_early_call_of_many_did_run() -> None:
    source = "def f(n):\n    if n == 0:\n        return 'first'\n    return n\n\n\nfor n in range(400):\n    f(n)\n"
    answer = why(record(source, python(3, 12)).processes[0], WhyQuestion(file="program.py", line=3))
    assert answer.value.endswith("ran: return 'first': -> 'first'")


ROUNDS = """\
import unittest


def site(url):
    return url.lower().lstrip("w.")


def count(urls):
    hits = {}
    for url in urls:
        name = site(url)
        hits[name] = hits.get(name, 0) + 1
    return hits


def named(pairs):
    names = []
    for name, is_open in pairs:
        if is_open:
            names.append(name)
    return names


class SiteTest(unittest.TestCase):
    def test_sites(self):
        hits = count(["www.meadow.org", "www.wide.net", "meadow.org"])
        self.assertEqual(hits, {"meadow.org": 2, "wide.net": 1})


class NameTest(unittest.TestCase):
    def test_names(self):
        names = named([("ada", True), ("bob", False), ("cyd", True)])
        assert names == ["ada", "bob", "cyd"]


unittest.main(argv=["it", NAME], exit=False)
"""


def asked_of(name: str) -> WhyAnswer:
    source = ROUNDS.replace("NAME", repr(name))
    return why(record(source, python(3, 12)).processes[0], WhyQuestion())


def test_a_test_that_fails_in_the_program_s_own_runner_is_what_failed() -> None:
    answer = asked_of("SiteTest")
    assert "it has no 'wide.net'" in answer.value
    assert 26 in lines(answer)


def test_of_many_rounds_that_of_the_item_that_differs_is_shown() -> None:
    written = next(line for line in asked_of("SiteTest").because if line.line == 12)
    assert written.values == ["['ide.net']=1"]


def test_of_many_rounds_that_of_the_item_that_is_missing_is_shown() -> None:
    answer = asked_of("NameTest")
    decided = next(line for line in answer.because if line.line == 19)
    assert decided.values[0] == "false"
    assert decided.notes == ["so line 20 does not run for 'bob'"]


GAPS = """\
class Shop:
    def __init__(self):
        self.lists = [[] for _ in range(7)]
        self.ways = [part.append for part in self.lists]

def changed(shop):
    for number, way in enumerate(shop.ways):
        way(number)


def total(shop):
    a, b, c, d, e, f, g = shop.lists
    changed(shop)
    return sum(a) + sum(b) + sum(c) + sum(d) + sum(e) + sum(f) + sum(g)


shop = Shop()
total(shop)
assert total(shop) == 21
"""


def test_of_many_gaps_the_nearest_are_named_and_the_others_counted() -> None:
    gaps = why(record(GAPS, python(3, 12)).processes[0], WhyQuestion()).gaps
    assert len(gaps) == 5
    assert gaps[-1].endswith("more such gaps, further away")


LEFT = """\
def wanted(names):
    found = {}
    for name in names:
        if name:
            continue
        found[name] = len(name)
    return found


class Player:
    hand = []

    def __init__(self, name):
        self.name = name


def sizes(players):
    return {player.name: len(player.hand) for player in players}
"""


def asked_at_the_end(question: str) -> WhyAnswer:
    return why(record(f"{LEFT}\n\n{question}\n", python(3, 13)).processes[0], WhyQuestion())


def test_a_key_that_is_not_there_leads_to_the_condition_that_left_each_round() -> None:
    answer = asked_at_the_end('assert wanted(["ada", "bo"])["ada"] == 3')
    decided = next(line for line in answer.because if line.line == 4)
    assert decided.notes == ["so found is not changed at line 6"]


def test_an_attribute_of_items_that_is_of_their_class_leads_to_the_class() -> None:
    answer = asked_at_the_end(
        'pair = [Player("ada"), Player("bo")]\npair[0].hand.append(7)\nassert sizes(pair) == {"ada": 1, "bo": 0}'
    )
    shared = next(line for line in answer.because if line.line == 11)
    assert shared.notes == ["all instances share it"]


def test_a_container_that_is_made_of_an_object_of_the_program_is_not_taken_for_that_object() -> None:
    source = (
        "class Tree:\n    def __iter__(self):\n        return iter([3])\ntree = Tree()\nassert list(tree) == [30]\n"
    )
    assert (
        why(record(source, python(3, 13)).processes[0], WhyQuestion()).value == "assert list(tree) == [30]: tree=<Tree>"
    )


def test_a_tree_that_grows_is_not_out_of_date() -> None:
    source = (
        "class Node:\n    def __init__(self, key):\n        self.key, self.left = key, None\n"
        "class Tree:\n    root = None\n    size = 0\n"
        "    def put(self, key):\n        self.root = self._put(self.root, key)\n        self.size += 1\n"
        "    def _put(self, node, key):\n        if node is None:\n            return Node(key)\n"
        "        node.left = self._put(node.left, key)\n        return node\n"
        "    def first(self):\n        return self.root.key\n"
        "tree = Tree()\nfor key in (3, 2, 1):\n    tree.put(key)\nassert tree.first() == 1\n"
    )
    answer = why(record(source, python(3, 13)).processes[0], WhyQuestion())
    assert not [line for line in answer.because if any("was computed from it" in note for note in line.notes)]


def test_a_line_that_ran_several_times_is_asked_about_its_last_run_and_that_is_said() -> None:
    process = record("for n in range(3):\n    m = n\n", python(3, 13)).processes[0]
    answer = why(process, WhyQuestion(file="program.py", line=2))
    assert answer.value == f"why {answer.because[-1].at} ran, the last of 3 runs of line 2: m = n: m=2"
