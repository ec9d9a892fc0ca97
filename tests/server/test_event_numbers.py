"""Numbers of moments of a run, as tools take them: of another text the error says what to pass."""

import pytest

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.tools.runs.reading_runs import number_of


@pytest.mark.parametrize("text", ["#913", "913", " #913 "])
def test_a_number_is_taken_with_and_without_its_sign(text: str) -> None:
    assert number_of(text, "at") == 913


def test_a_place_is_answered_with_the_question_about_a_line() -> None:
    with pytest.raises(UsageError, match=r'why\(file="pkg/f\.py", line=7\)'):
        number_of("pkg/f.py:7", "at")


@pytest.mark.parametrize("text", ["", "f.py", ":7", "f.py:x", "#0"])
def test_what_is_neither_is_refused_without_a_place(text: str) -> None:
    with pytest.raises(UsageError, match="such as #913") as raised:
        number_of(text, "at")
    assert "by its place" not in str(raised.value)
