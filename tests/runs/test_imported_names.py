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
from config import IMPORTED
import config


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
    assert 'LEVEL = "info"' not in changed
    assert "def show" not in changed


@pytest.mark.parametrize(
    ("imported", "read", "change", "after"),
    [
        ("LEVEL", "config.LEVEL", "config.load('debug')", "pass"),
        ("LEVEL", "LEVEL", "pass", "config.load('debug')"),
        ("show", "show()", "pass", "pass"),  # whose module the import itself has run
    ],
)
def test_what_is_read_from_the_module_or_not_changed_since_is_not_out_of_date(
    imported: str, read: str, change: str, after: str
) -> None:
    lines = because(imported, read, change, after)
    assert not [line for line in lines if "is that of then" in line or "imported it" in line]


def test_a_module_that_its_package_writes_again_as_it_imports_it_has_not_changed() -> None:
    folder = fresh_folder()
    package = folder / "project" / "shop"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from shop import prices, till\n")
    (package / "prices.py").write_text("from shop import till\n\n\ndef total():\n    return till.TAKEN * 2\n")
    (package / "till.py").write_text("TAKEN = 3\n")
    source = "import shop\nresult = shop.prices.total()\nassert result == 8, result\n"
    record = run_recorded(source, python(3, 13), folder=folder).run.processes[0]
    lines = [str(line) for line in why(record, WhyQuestion(limit=30)).because]
    assert [line for line in lines if "till.TAKEN * 2" in line]
    assert not [line for line in lines if "is that of then" in line or "imported it" in line]
