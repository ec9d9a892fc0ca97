"""Modules that come out of an archive are recorded with their source."""

import pytest

from tests.runs.recorded_programs import python, record
from trio_debugmcp.runs.why import WhyQuestion, why

PROGRAM = """\
import sys, zipfile
with zipfile.ZipFile("shop.zip", "w") as archive:
    archive.writestr("cart.py", "def total(items):\\n    amount = 0\\n    amount -= sum(items)\\n    return amount\\n")
sys.path.insert(0, "shop.zip")
import cart
value = cart.total([1, 2])
assert value == 3, value
"""


@pytest.mark.real
def test_why_shows_the_lines_of_a_module_in_an_archive() -> None:
    (process,) = record(PROGRAM, python(3, 13)).processes
    lines = [(line.file.rpartition("/")[2], line.source) for line in why(process, WhyQuestion()).because]
    assert ("cart.py", "amount -= sum(items)") in lines
