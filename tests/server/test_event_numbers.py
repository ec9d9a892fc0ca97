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


def test_a_long_place_is_answered_whole_as_it_is_pasted() -> None:
    file = f"{'deep/' * 40}f.py"
    with pytest.raises(UsageError) as raised:
        number_of(f"{file}:7", "at")
    assert f'why(file="{file}", line=7)' in str(raised.value)


@pytest.mark.parametrize("text", ["", "f.py", ":7", "f.py:x", "#0"])
def test_what_is_neither_is_refused_without_a_place(text: str) -> None:
    with pytest.raises(UsageError, match="such as #913") as raised:
        number_of(text, "at")
    assert "by its place" not in str(raised.value)
