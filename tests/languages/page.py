"""What adapters cannot do, as a table of docs/adapters.md, made from the cases: `python -m tests.languages.page`."""

import sys
from pathlib import Path

from tests.languages.cases import CASES

PAGE = Path(__file__).parent.parent.parent / "docs" / "adapters.md"
BEGIN, END = "<!-- what the acceptance test's cases say -->\n", "<!-- end -->\n"


def table() -> str:
    """The table, with a row for each adapter that cannot do something."""
    rows = ["| adapter | what it cannot do |", "| --- | --- |"]
    for name, case in CASES.items():
        if case.cannot:
            rows.append(f"| {name} | {'; '.join(f'**{what}**: {why}' for what, why in case.cannot.items())} |")
    return "\n".join(rows) + "\n"


def page(text: str) -> str:
    """The page with the table of today."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
    sys.stdout.write(table())
