"""Values that came to another place than the one that lacks them: what one call or round has written."""

import pytest

from tests.runs.recorded_programs import python, run_recorded
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

BANK = """\
class Bank:
    def __init__(self):
        self.balances = {"ann": 100, "bob": 100, "cem": 100}
        self.fees = {"ann": 0, "bob": 0, "cem": 0}
        self.earned = 0
        self.lost = 0

    def pay(self, source, target, amount):
        self.balances[source] -= amount
        WORK

bank = Bank()
for source, target, amount in [("cem", "ann", 10), ("ann", "bob", 30)]:
    bank.pay(source, target, amount)
"""


def asked(source: str, expression: str = "", minor: int = 13) -> dict[str, str]:
    """Return what is said of each line of the answer, by its source: the values, and the notes."""
    answer = why(run_recorded(source, python(3, minor)).run.processes[0], WhyQuestion(expression=expression))
    return {line.source: f"{' '.join(line.values)}; {': '.join(line.notes)}" for line in answer.because}


def paid(work: str, ending: str = "", expression: str = "", minor: int = 13) -> dict[str, str]:
    return asked(BANK.replace("WORK", work) + ending, expression, minor)


@pytest.mark.parametrize("minor", [12, 13])
def test_what_has_written_under_another_key_with_the_key_at_hand(minor: int) -> None:
    said = paid("self.balances[source] += amount", 'wrong = bank.balances["bob"]\n', "wrong", minor)
    assert said["self.balances[source] += amount"] == "['ann']=100; target='bob' here, and ['bob'] is not written"


@pytest.mark.parametrize("minor", [12, 13])
def test_what_has_added_elsewhere_as_much_as_is_lacking(minor: int) -> None:
    said = paid("self.balances[source] += amount", 'assert bank.balances["bob"] == 130\n', minor=minor)
    assert said["self.balances[source] += amount"] == "['ann']=100; 30 more in ['ann'], as much as is missing"
    said = paid("self.lost += amount", "assert bank.earned == 30\n", minor=minor)
    assert said["self.lost += amount"].startswith(".lost=40; 30 more in .lost, as much as is missing")


def test_what_has_written_under_the_key_in_the_container_beside_it() -> None:
    said = paid("self.fees[target] += amount", 'assert bank.balances["bob"] == 131\n')
    assert said["self.fees[target] += amount"] == "['bob']=30; .balances['bob'] is not written here"


def test_a_call_that_has_written_the_place_has_written_nothing_else_in_its_stead() -> None:
    for work in ("self.balances[target] += amount", "self.fees[target] += 1; self.balances[target] += amount"):
        said = paid(work, 'assert bank.balances["bob"] == 125\n')
        assert not any("is not written" in text or "missing" in text for text in said.values()), said


def test_a_round_that_had_the_key_is_another_than_one_that_had_not() -> None:
    source = """\
sums = {"ann": 0, "bob": 0}
for name, amount in [("ann", 5), ("bob", 7), ("ann", 3)]:
    sums["ann" if amount > 6 else name] += amount
    other = 1
wrong = sums["bob"]
"""
    said = asked(source, "wrong")
    assert said['sums["ann" if amount > 6 else name] += amount'].startswith(
        "['ann']=12; name='bob' here, and ['bob'] is not written"
    )
    said = asked(source.replace('"ann" if amount > 6 else name', "name"), "wrong")
    assert not any("is not written" in text for text in said.values()), said


@pytest.mark.parametrize(
    ("key", "at_hand"),
    [("order.item", "order.buyer='bob'"), ("order.buyer.upper()", "['BOB'] is another key than ['bob']")],
)
def test_a_key_that_an_object_has_or_that_was_made_another_one(key: str, at_hand: str) -> None:
    source = f"""\
class Order:
    def __init__(self, buyer, item):
        self.buyer, self.item = buyer, item

def booked(orders):
    counts = {{"bob": 0, "tea": 0}}
    for order in orders:
        key = {key}
        counts[key] = 1
    return counts

counts = booked([Order("bob", "tea")])
assert counts["bob"] == 1
"""
    said = asked(source)
    assert at_hand in said["counts[key] = 1"]
    assert f"key = {key}" in said, "where the key came from"


def test_a_number_is_another_key_than_its_text() -> None:
    source = 'found = {}\nfor line in ["7 a", "8 b"]:\n    number, name = line.split()\n    found[number] = name\n'
    said = asked(source + "name = found.get(7)\nassert name == 'a'\n")
    assert "['7'] is another key than [7]" in said["found[number] = name"]
    assert "is another key" not in str(asked(source.replace("found[number]", "found[-int(number)]") + "found[7]\n"))


def test_an_item_that_came_into_the_list_beside_the_one_that_lacks_it() -> None:
    source = """\
folders = {"inbox": [], "spam": [], "archive": []}

def put(folder, mail):
    folders[folder].append(mail)

def archived(mail):
    folders["inbox"].remove(mail)
    WORK

put("inbox", "hello")
archived("hello")
assert folders["archive"] == ["hello"]
"""
    said = asked(source.replace("WORK", 'put("spam", mail)'))
    assert said["folders[folder].append(mail)"] == "[0]='hello'; 'hello' is in ['spam'], and not in ['archive']"
    said = asked(source.replace("WORK", "pass"))
    assert not any(" is in " in text for text in said.values()), "it is in none of them any more"


def test_a_place_whose_two_keys_were_exchanged() -> None:
    source = """\
cells = [["."] * 3 for _ in range(3)]

def put(x, y, mark):
    cells[KEYS] = mark

put(2, 1, "o")
put(0, 0, "x")
assert cells[1][2] == "o"
"""
    said = asked(source.replace("KEYS", "x][y"))
    assert said["cells[x][y] = mark"].startswith("[1]='o'; y=1 x=2, and [1][2] is not written here")
    said = asked(source.replace("KEYS", "y][x").replace('== "o"', '== "-"'))
    assert not any("is not written" in text for text in said.values()), said


def test_nothing_is_said_where_something_that_is_not_recorded_may_have_written_the_place() -> None:
    """A library, or a way that no statement names: what it did is found by the next line that reads the place."""
    work = "self.balances[source] += amount\n        HELPERS[0]('bob', 7)"
    helpers = "import functools\n\nHELPERS = []\n\n" + BANK.replace("WORK", work).replace(
        "bank = Bank()", "bank = Bank()\nHELPERS.append(functools.partial(bank.balances.__setitem__))"
    )
    said = asked(helpers + 'wrong = bank.balances["bob"]\n', "wrong")
    assert not any("is not written" in text for text in said.values()), said


def test_two_lists_of_a_module_have_no_place_in_common() -> None:
    source = "names = ['b', 'a']\nlabels = [name.upper() for name in names]\nnames.sort()\nassert labels[0] == 'A'\n"
    assert not any("is not written" in text for text in asked(source).values())
