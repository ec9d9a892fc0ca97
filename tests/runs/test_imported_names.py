"""A name that a module has imported keeps the value of then: an answer names the import, and what changed it since."""

import pytest

from tests.runs.recorded_programs import fresh_folder, python, run_recorded
from trio_debugmcp.runs.why import WhyQuestion, why

pytestmark = pytest.mark.real

CONFIG = """\
LEVEL = "info"


def load(level):
    global LEVEL
    LEVEL = level


def show():
    return LEVEL
"""

APP = """\
import config
from config import IMPORTED


def describe():
    return READ


CHANGE
text = describe()
AFTER
assert text == "other", text
"""


def because(imported: str, read: str, change: str, after: str = "pass") -> list[str]:
    folder = fresh_folder()
    (folder / "project").mkdir(parents=True)
    (folder / "project" / "config.py").write_text(CONFIG)
    source = APP.replace("IMPORTED", imported).replace("READ", read).replace("CHANGE", change).replace("AFTER", after)
    record = run_recorded(source, python(3, 13), folder=folder).run.processes[0]
    return [str(line) for line in why(record, WhyQuestion(limit=30)).because]


@pytest.mark.parametrize(
    ("imported", "read", "change"),
    [
        ("LEVEL", "LEVEL", "config.load('debug')"),
        ("LEVEL", "LEVEL", "config.LEVEL = 'debug'"),
        ("LEVEL as level", "f'{level}'", "setattr(config, 'LEVEL', 'debug')"),
        ("show", "show()", "config.show = lambda: 'other'"),
    ],
)
def test_the_import_is_named_with_what_has_changed_the_module_since(imported: str, read: str, change: str) -> None:
    lines = because(imported, read, change)
    (made,) = [line for line in lines if f"from config import {imported}" in line]
    assert "is that of then: #" in made
    (changed,) = [line for line in lines if "changed since #" in line]
    assert "LEVEL" in changed or "config.show" in changed


@pytest.mark.parametrize(
    ("read", "change", "after"),
    [("config.LEVEL", "config.load('debug')", "pass"), ("LEVEL", "pass", "config.load('debug')")],
)
def test_what_is_read_from_the_module_or_changed_later_is_not_out_of_date(read: str, change: str, after: str) -> None:
    assert not [line for line in because("LEVEL", read, change, after) if "is that of then" in line]
