"""Whether code may come from the file that it names: `compile` takes the name of any."""

from types import CodeType

import pytest

from trio_debugmcp.probe.inside.debugger.named_files import may_be_of

TEXT = """\
import os.path as paths


class Till:
    __total = 0

    def pay(self, *prices):
        self.__total += sum(price for price in prices)
        return paths.join("a", f"{self.__total}")
"""


def codes(text: str, name: str = "a.py") -> list[CodeType]:
    """Return the code of a text, and all code in it."""
    found = [compile(text, name, "exec")]
    for code in found:
        found += [each for each in code.co_consts if isinstance(each, CodeType)]
    return found


def test_each_code_of_a_text_may_be_of_it() -> None:
    assert len(codes(TEXT)) >= 4
    assert [code for code in codes(TEXT) if not may_be_of(code, TEXT.encode())] == []


@pytest.mark.parametrize(
    "other",
    [
        "root:*:19000:0:99999:7:::\n" * 30,
        TEXT.replace("pay", "paid").replace("paths", "path").replace("Till", "Shop"),
        "".join(f"\n{line}" for line in TEXT.splitlines(keepends=True)),
        "",
    ],
    ids=["no code", "other names", "other lines", "empty"],
)
def test_no_code_of_a_text_is_of_another(other: str) -> None:
    assert [code for code in codes(TEXT) if may_be_of(code, other.encode()) and code.co_name != "<genexpr>"] == []
