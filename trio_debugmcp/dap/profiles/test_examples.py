"""How a test is named in the language of a project: what an error shows where a name leads to none."""

from collections.abc import Sequence
from pathlib import Path

PYTHON = "tests/test_a.py::test_b"
GO = "price/price_test.go::TestTotal"
RUST = "src/lib.rs::tests::adds"
SCRIPT = "test/sum.test.ts::adds up"
RUBY = "test/shelf_test.rb::ShelfTest#test_sums"
PHP = "tests/ShelfTest.php::testSums"
JAVA = "src/test/java/ShelfTest.java::takesOut"

_EXAMPLES = {
    **dict.fromkeys(("pyproject.toml", "pytest.ini", "setup.cfg", "setup.py", "tox.ini", "conftest.py"), PYTHON),
    "go.mod": GO,
    "Cargo.toml": RUST,
    "package.json": SCRIPT,
    **dict.fromkeys(("Gemfile", "Rakefile", ".rspec"), RUBY),
    **dict.fromkeys(("composer.json", "phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"), PHP),
    **dict.fromkeys(("pom.xml", "build.gradle", "build.gradle.kts"), JAVA),
    "CMakeLists.txt": "tests/stock_test.cpp::Stock.Takes",
}
"""By a file that a project of the language has; of several in one directory the first here counts."""


def example_in(places: Sequence[str]) -> str:
    """Return how a test is named in the project that the first of these directories is of; else, as in Python."""
    for place in places:
        for folder in (Path(place), *Path(place).parents):
            for name, example in _EXAMPLES.items():
                if (folder / name).is_file():
                    return example
    return PYTHON
