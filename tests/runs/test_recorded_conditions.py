"""Conditions on recorded values are judged by their texts; where these do not tell, it is not known."""

import pytest

from trio_debugmcp.runs.past.recorded_conditions import ConditionError, RecordedCondition

TEXTS = {
    "n": "3", "name": "'tea'", "cart": "<Cart>", "none": "None", "done": "True", "x.y": "2.5", "d['k']": "(1, 2)",
    "price": "Decimal('1.20')", "part": "Fraction(1, 3)", "day": "<date 2024-05-01>", "path": "PosixPath('/a')",
    "when": "<datetime 2024-05-01T12:30:00+02:00[Europe/Berlin]>", "color": "<Color.RED: 1>", "odd": "Decimal('sNaN')",
    "two": "list of 2", "tags": "{'a', 'b'}", "none_in": "dict of 0",
}  # fmt: skip


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("n > 2", True), ("1 < n < 3", False), ("name == 'tea'", True), ("name in ('ham', 'tea')", True),
        ("x.y == 2.5 and d['k'] == (1, 2)", True), ("not done", False), ("-n == -3", True), ("none is None", True),
        ("cart is not None", True), ("cart == '<Cart>'", True), ("cart == 3", None), ("cart", None), ("gone > 1", None),
        ("n > 2 or gone", True), ("n > 5 and gone", False), ("n > 2 and gone", None), ("not gone", None),
        ("n < 'a'", None), ("cart == cart", None), ("done is True", True), ("n is n", True),
        ("name is name", None), ("d is not d", None), ("name is n", False), ("x.y is 2.5", None), ("n is 4", False),
         ("n == n", True),
        ("price > 1", True), ("price == 1.2", False), ("price < 1.25", True), ("0 < part < 1", True), ("odd > 1", None),
        ("day == '2024-05-01'", True), ("day > '2024-05-01'", False), ("'2024-04-30' < day", True), ("day > 3", None),
        ("day == '<date 2024-05-01>'", True), ("day > 'tea'", None), ("when >= '2024-05-01T12:30:00+02:00'", True),
        ("when > '2024-05-01T10:30:00'", None), ("color == '<Color.RED: 1>'", True), ("color != 'RED'", None),
        ("path == \"PosixPath('/a')\"", True), ("path == '/a'", None),
        ("two", True), ("not none_in", True), ("d['k'] == [1, 2]", False), ("d['k'] != (1, 3)", True),
        ("d['k'] == ()", False), ("d['k'] in ((1, 2), 3)", True),
        ("tags == {'b', 'a'}", True), ("tags == {(), []}", None),
        ("2 in d['k']", True),
    ],
)  # fmt: skip
def test_a_condition_holds_does_not_or_cannot_be_known(condition: str, holds: bool | None) -> None:
    assert RecordedCondition(condition).holds(lambda path: TEXTS.get(str(path))) is holds


@pytest.mark.parametrize(
    ("condition", "held"),
    [("day == '2024-05-01'", None), ("'<Cart>' == cart", None), ("cart is None", False), ("n > 2", True),
     ("not (day == name)", None), ("name == 'tea'", True), ("price > 1", True)],
)  # fmt: skip
def test_a_condition_of_the_program_takes_no_text_for_a_date_or_an_object(condition: str, held: bool | None) -> None:
    assert RecordedCondition(condition).held(lambda path: TEXTS.get(str(path))) is held


@pytest.mark.parametrize(
    "condition", ["len(name) > 3", "n + 1 == 2", "n >", "lambda: 1", "f'{n}'", "(yield)", "n := 3"]
)
def test_what_would_need_code_or_does_not_parse_is_refused(condition: str) -> None:
    with pytest.raises(ConditionError, match=r"cannot be judged|not an expression"):
        RecordedCondition(condition)
