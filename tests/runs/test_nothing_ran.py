"""A run in which a runner has called no code of the project says so; one that has run, or has failed, does not."""

import pytest

from tests.runs.recorded_programs import fresh_folder, python, run_recorded
from trio_debugmcp.runs.past.nothing_ran import nothing_ran
from trio_debugmcp.runs.why import NoAnswerError, WhyQuestion, why

pytestmark = pytest.mark.real

RUNNER = """\
import runpy
import sys

sys.path.insert(0, PROJECT)
try:
    import shop
    CALL
except ImportError:
    pass
"""


def said(shop: str, call: str) -> str:
    """Return what is said of a project whose module is imported by a runner that is none of its code."""
    folder = fresh_folder()
    project = folder / "project" / "inner"
    project.mkdir(parents=True)
    (project / "shop.py").write_text(shop)
    source = RUNNER.replace("PROJECT", repr(str(project))).replace("CALL", call)
    record = run_recorded(source, python(3, 13), folder=folder, root=str(project)).run.processes[0]
    words = nothing_ran(record)
    if words:
        with pytest.raises(NoAnswerError, match=r"nothing failed in this run, in which no .* ran: what it printed"):
            why(record, WhyQuestion())
    return words.replace(str(project), "ROOT")


@pytest.mark.parametrize(
    ("shop", "call", "words"),
    [
        ("def test_a():\n    assert True\n", "pass", "no function of the code below ROOT ran"),
        ("class Shop:\n    rate = 3\n", "pass", "no function of the code below ROOT ran"),
        ("def test_a():\n    assert True\n", "shop.test_a()", ""),
        ("import nowhere\n", "pass", ""),
    ],
)
def test_what_ran_decides_what_is_said(shop: str, call: str, words: str) -> None:
    assert said(shop, call) == words


def test_a_script_without_functions_has_run() -> None:
    assert not nothing_ran(run_recorded("total = 1 + 1\n", python(3, 13)).run.processes[0])
