"""Of a text that was put together, the part is followed that has the place at which it differs from the expected."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

PAGE = """\
class Row:
    def __init__(self, name, count):
        self.name = name
        self.count = count

    @property
    def indent(self):
        return ""

    def end(self):
        return "\\n" if self.count != 2 else ""

    def text(self):
        return PARTS


def title(word):
    return word.title() + "\\n"


def same(text):
    return text


def page(rows):
    text = ""
    text += title("fruits")
    for row in rows:
        text += row.text()
    text += "--\\n" + title("the end")
    return same(text)


assert page([Row("plum", 1), Row("pear", 2), Row("fig", 3)]) == EXPECTED
"""

PARTS = {
    "a text of several parts": 'f"{self.indent}{self.name} {self.count}{self.end()}"',
    "a sum": 'self.indent + self.name + " " + str(self.count) + self.end()',
}

BODY = "Fruits\\nplum 1\\npear 2fig 3\\n--\\nThe End\\n"


def lines(expected: str, parts: str = PARTS["a text of several parts"]) -> list[str]:
    source = PAGE.replace("PARTS", parts).replace("EXPECTED", f'"{expected}"')
    return [str(line) for line in why(record(source, python(3, 13)).processes[0], WhyQuestion()).because]


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
def test_a_text_that_ends_too_early_is_followed_and_so_is_the_next(parts: str) -> None:
    answer = lines(BODY.replace("2fig", "2\\nfig"), parts)
    assert any("Row.end | return" in line and "-> ''" in line for line in answer), answer
    assert not any("title" in line and "return" in line for line in answer), "what stands elsewhere in the text"


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
def test_what_a_part_was_made_of_is_followed_and_not_the_other_parts(parts: str) -> None:
    answer = "\n".join(lines(BODY.replace("plum 1", "plus 1"), parts))
    assert "self.name = name | .name='plum'" in answer
    assert "Row.end | return" not in answer
    assert "title | return" not in answer


def test_a_number_that_is_written_out_is_a_part() -> None:
    answer = "\n".join(lines(BODY.replace("plum 1", "plum 7")))
    assert "self.count = count | .count=1" in answer
    assert "self.name = name" not in answer


def test_the_first_and_the_last_part_are_found_though_all_between_are_longer() -> None:
    assert any("title | return" in line and "'Fruits\\n'" in line for line in lines(BODY.replace("Fruits", "Fruit")))
    last = lines(BODY.replace("The End", "The End."))
    assert any("title | return" in line and "'The End\\n'" in line for line in last)
    assert not any("Row.text" in line for line in last)


TWICE = """\
def word(n):
    return "ab" * n


def both():
    text = word(1) + word(1)
    return text


assert both() == "abac"
"""


def test_the_same_text_in_two_places_is_not_taken_for_one() -> None:
    answer = why(record(TWICE, python(3, 13)).processes[0], WhyQuestion())
    assert any("word" in str(line) for line in answer.because)


def test_a_text_that_should_not_be_there_is_followed_to_what_completed_it() -> None:
    source = PAGE.replace("PARTS", PARTS["a sum"]).replace("== EXPECTED", "").replace("assert", "text =")
    program = f"{source}assert 'pear 2fig' not in text\n"
    answer = [str(line) for line in why(record(program, python(3, 13)).processes[0], WhyQuestion()).because]
    assert any("self.name = name | .name='fig'" in line for line in answer), answer
    assert not any("title | return" in line for line in answer)


LONG = """\
def mark(count):
    return MARK


def line(count):
    return f"plum{count}: {count}{mark(count)}"


def page():
    text = ""
    for count in range(40):
        text += line(count)
    return text


expected = "".join("plum%d: %d\\n" % (n, n) for n in range(40))
assert page() == expected
"""


def answer_of_long(mark: str) -> tuple[str, str]:
    answer = why(record(LONG.replace("MARK", mark), python(3, 13)).processes[0], WhyQuestion())
    return answer.value, "\n".join(map(str, answer.because))


def test_of_a_text_that_is_recorded_up_to_some_length_the_part_is_followed_if_it_differs_there() -> None:
    value, lines = answer_of_long('"\\n" if count != 3 else "!\\n"')
    assert value.endswith(
        "at character 35 it has ': 2\\nplum3: 3!\\nplum4: 4\\np', not ': 2\\nplum3: 3\\nplum4: 4\\npl'"
    )
    assert 'mark | return "\\n" if count != 3 else "!\\n" | -> \'!\\n\'' in lines
    assert "-> 'plum3: 3!\\n'" in lines


def test_where_something_is_missing_in_a_long_text_what_ended_too_early_is_followed() -> None:
    _, lines = answer_of_long('"\\n" if count != 3 else ""')
    assert "-> 'plum3: 3'" in lines
    assert 'mark | return "\\n" if count != 3 else "" | -> \'\'' in lines


def test_a_long_text_that_differs_behind_what_is_recorded_has_no_such_place() -> None:
    value, lines = answer_of_long('"\\n" if count != 30 else "!\\n"')
    assert "at character" not in value
    assert "text += line(count)" in lines


def test_a_text_that_should_be_there_is_followed_to_where_it_parts_from_what_is() -> None:
    source = PAGE.replace("PARTS", PARTS["a sum"]).replace("== EXPECTED", "").replace("assert", "text =")
    program = f"{source}assert 'pear 2\\nfig' in text\n"
    answer = [str(line) for line in why(record(program, python(3, 13)).processes[0], WhyQuestion()).because]
    assert any("Row.end | return" in line and "-> ''" in line for line in answer), answer
    assert not any("title | return" in line for line in answer)
