"""The lines of the statement at hand, as they are shown at a stop."""

from trio_debugmcp.server.answers.statement_lines import MOST_LINES, lines_of
from trio_debugmcp.server.answers.text import excerpt, numbered_excerpt

TEXT = '''\
x = 1
def f(
    a,
):
    """Doc,
    more.
    """
    return sum([
        a,

        # c
        a + 1,
    ])
s = a + \\
    b
    unfinished(
'''.splitlines()


def test_every_line_of_a_statement_leads_to_all_of_it() -> None:
    assert [lines_of(TEXT, line) for line in (2, 3, 4)] == [(2, 4)] * 3
    assert [lines_of(TEXT, line) for line in (8, 9, 10, 11, 13)] == [(8, 13)] * 5
    assert [lines_of(TEXT, line) for line in (14, 15)] == [(14, 15)] * 2
    assert [lines_of(TEXT, line) for line in (1, 16)] == [(1, 1), (16, 16)]


def test_of_a_long_statement_the_lines_around_the_current_one_are_shown() -> None:
    table = ["rows = [", *(f"    {number}," for number in range(500)), "]"]
    assert lines_of(table, 250) == (250, 250)
    assert len(excerpt(table, 250, 2, "/src/table.py")) == 5
    assert len(excerpt(table, 495, MOST_LINES, "/src/table.py")) == MOST_LINES + 8


def test_a_stop_in_the_middle_of_a_statement_shows_it_whole_in_python_only() -> None:
    assert numbered_excerpt(excerpt(TEXT, 12, 1, "/src/a.py")).splitlines()[0] == "8  return sum(["
    assert numbered_excerpt(excerpt(TEXT, 12, 1, "/src/a.rb")).splitlines()[0].startswith("11 ")
