"""docs/security.md says of every bound what the code says, and names tests that are there."""

import importlib
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
TABLE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8").partition("## Bounds")[2].partition("\n## ")[0]
ROWS = [[cell.strip() for cell in row.strip("|").split("|")] for row in TABLE.splitlines() if row.startswith("| ")][2:]


@cache
def names_of_tests() -> frozenset[str]:
    texts = (file.read_text(encoding="utf-8") for file in sorted((ROOT / "tests").rglob("test_*.py")))
    return frozenset(name for text in texts for name in re.findall(r"^(?:async )?def (test_\w+)", text, re.MULTILINE))


def test_the_page_has_all_bounds() -> None:
    assert len(ROWS) == 42


@pytest.mark.parametrize("row", ROWS, ids=[f"{row[0]}:{row[2]}" for row in ROWS])
def test_every_bound_of_the_page_is_that_of_the_code(row: list[str]) -> None:
    _, number, constant, reason, proofs = row
    module, _, name = constant.strip("`").rpartition(".")
    value = getattr(importlib.import_module(f"trio_debugmcp.{module}"), name)
    values = set(value.values()) if isinstance(value, dict) else {value}
    said = float(re.findall(r"[\d.]+", number.replace("a minute", ""))[-1])
    assert said in values
    assert reason
    named = re.findall(r"`([^`]+)`", proofs)
    assert named
    assert set(named) <= names_of_tests()
