"""Sources with many beginnings of something that does not end: each was read to the end of the text from each of them.

Of the sizes here that took minutes, or hours.
"""

import re

import pytest

from trio_debugmcp.dap.profiles.native.rust_functions import functions_in
from trio_debugmcp.dap.profiles.test_runners import cargo, junit, kotlin_scala_tests
from trio_debugmcp.dap.profiles.test_runners.named_test import at_line, found_tests

MANY = 200_000

RUST, JAVA, KOTLIN = (module.TEST for module in (cargo, junit, kotlin_scala_tests))


@pytest.mark.parametrize(
    ("pattern", "beginning", "test"),
    [
        (RUST, "#[test]\n", "; #[test]\nfn adds() {}"),
        (RUST, "#[test] ", "; #[test]\nfn adds() {}"),
        (RUST, '#[test "\\"', "\n#[test]\nfn adds() {}"),
        (RUST, "#[test [x", "\n#[test]\nfn adds() {}"),
        (KOTLIN, "@Test ", "; @Test fun adds() {}"),
        (KOTLIN, "@Test(", "); @Test fun adds() {}"),
        (JAVA, "@Test ", "; @Test void adds() {}"),
        (JAVA, "@Test(", "); @Test void adds() {}"),
    ],
)
def test_a_test_is_found_behind_many_that_only_begin(pattern: re.Pattern[str], beginning: str, test: str) -> None:
    text = beginning * MANY + test
    assert [found["name"] for found in found_tests(text, pattern)] == ["adds"]
    assert at_line(text, text.count("\n") + 1, pattern)["name"] == "adds"


@pytest.mark.parametrize("rest", ['r#"' * MANY, "/*" * MANY, '"' + '\\"' * MANY, f"impl {'a' * MANY}- {{}}"])
def test_functions_of_rust_are_found_before_what_does_not_end(rest: str) -> None:
    assert functions_in(f"impl Stock {{\n  fn take() {{}}\n}}\n{rest}") == {("Stock", "take"): 2}


@pytest.mark.parametrize(
    "text",
    [
        '#[tokio::test(flavor = "multi_thread")]\nasync fn adds() {}',
        '#[test]\n#[should_panic(expected = "x]\\"[")]\n  pub fn adds() {}',
        "#[test] fn adds() { x[0] }",
        "#[test]\n#[case([[1, 2], [3]])]\nfn adds() {}",
        "#[test]\n#[quoted('\"')] #[quoted('\\'', ']')] #[of('a)]\nfn adds() {}",
    ],
)
def test_attributes_of_rust_have_brackets_and_quotes_in_them(text: str) -> None:
    assert [found["name"] for found in found_tests(text, RUST)] == ["adds"]
