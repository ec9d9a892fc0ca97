"""Where code is in Python files, without running them."""

import ast
from pathlib import Path

import pytest

from trio_debugmcp.dap.profiles import Debugpy
from trio_debugmcp.dap.profiles.python.code_lines import function_line, line_with_code

SOURCE = b'''# head

"""Module
text."""

class A:
    """Text."""

    def total(
        self,
        a,
    ):
        """Text
        of it."""
        # comment
        x = [
            a,
            2,
        ]
        if x:
            y = 1
        else:
            y = 2
        return y
        # tail

# between
def one(): return 1

class B(A):
    pass
# end
'''


@pytest.mark.parametrize(
    ("line", "target"),
    [
        (1, 3),  # the head of the file
        (4, 6),  # inside a text
        (8, 9),  # between a class's text and its method
        (10, 16),  # the parameters of a method: not up to its `def`
        (13, 16),
        (15, 16),
        (17, 17),
        (19, 18),  # the end of a statement belongs to it
        (22, 23),  # `else` has no code, and what follows is what it is about
        (25, 24),  # nothing of the method follows
        (27, 28),
        (31, 31),
        (32, None),
        (99, None),
    ],
)
def test_a_line_without_code_leads_to_the_next_one_of_the_same_function(line: int, target: int | None) -> None:
    assert line_with_code(SOURCE, line) == target


def test_a_source_that_cannot_be_parsed_is_left_to_the_adapter() -> None:
    assert line_with_code(b"print 'old'\n# end\n", 2) == 2
    assert function_line(b"print 'old'\n", ["f"]) is None


def test_methods_are_found_in_base_classes_too_and_functions_in_one_line_have_no_line() -> None:
    assert [function_line(SOURCE, names) for names in (["A", "total"], ["B", "total"], ["one"], ["A", "x"])] == [
        16,
        16,
        None,
        None,
    ]


def test_the_definition_that_is_left_counts_and_a_property_is_its_getter() -> None:
    source = b"""
class C:
    @property
    def p(self):
        return 1

    @p.setter
    def p(self, value):
        pass

try:
    import fast
except ImportError:
    def work():
        return 1
    def work():
        return 2
"""
    assert function_line(source, ["C", "p"]) == 5
    assert function_line(source, ["work"]) == 17


def test_functions_are_looked_for_in_modules_packages_and_near_files(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("def top():\n    return 1\n")
    (tmp_path / "pkg" / "shop.py").write_text("class Basket:\n    def total(self):\n        return 1\n")
    (tmp_path / "app.py").write_text("class Near:\n    def go(self): return 1\n    def by(self):\n        pass\n")

    def place(name: str) -> tuple[str, int] | None:
        found = Debugpy.code.function_place(name, [], [str(tmp_path)])
        return None if found is None else (found.file.removeprefix(f"{tmp_path}/"), found.line)

    assert place("pkg.top") == ("pkg/__init__.py", 2)
    assert place("pkg.shop.Basket.total") == ("pkg/shop.py", 3)
    assert place("Near.by") == ("app.py", 4)
    assert place("Near.go") == place("by") == ("", 0)
    assert place("Near.none") is place("pkg.none") is place("none") is None


def test_a_file_is_parsed_once_for_all_its_breakpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed, parse = list[bytes](), ast.parse

    def counted(source: bytes) -> object:
        parsed.append(source)
        return parse(source)

    source = b"def once():\n    return 1\n"
    with monkeypatch.context() as patched:
        patched.setattr(ast, "parse", counted)
        for line in (1, 2, 2):
            line_with_code(source, line)
    assert parsed == [source]


def test_functions_that_may_be_meant_are_those_of_the_programs_own_with_names_like_it(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(
        "class Cart:\n    async def total_price(self):\n        def inner(): pass\n\ndef compute_total(): pass\n"
    )
    library = tmp_path / "site-packages"
    library.mkdir()
    (library / "other.py").write_text("def compute_totals(): pass\n")

    def alike(name: str) -> list[tuple[str, str]]:
        found = Debugpy.code.find_functions(name, [str(library / "other.py")], [str(tmp_path)], alike=True)
        return [(Path(file).name, function.qualname) for file, function in found]

    assert alike("compute_totl") == [("shop.py", "compute_total")]
    assert alike("Cart.totl_price") == alike("Basket.total_price") == [("shop.py", "Cart.total_price")]
    assert [name.rpartition(".")[2] for _, name in alike("inne")] == ["inner"]
    assert alike("zzz") == alike("Cart.zzz") == []
