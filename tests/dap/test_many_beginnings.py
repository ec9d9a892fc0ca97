"""Sources with many beginnings of something that does not end: each was read to the end of the text from each of them.

Of the sizes here that took minutes, or hours.
"""

import re

import pytest

from trio_debugmcp.dap.profiles.first_statement import first_statement
from trio_debugmcp.dap.profiles.native.rust_functions import functions_in
from trio_debugmcp.dap.profiles.test_runners import cargo, junit, kotlin_scala_tests, node_runners, phpunit
from trio_debugmcp.dap.profiles.test_runners.named_test import at_line, block_above, blocks_around, found_tests

MANY = 200_000

SOME = 20_000
"""Of what is more than a character or two for each."""

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


@pytest.mark.parametrize(
    "rest", ["fn a() {}\n" * SOME, "mod a { fn b() {}\n" * SOME, "mod a {" * SOME + "}" * SOME, "{ fn a() {}" * SOME]
)
def test_many_functions_of_rust_are_found_with_their_lines(rest: str) -> None:
    found = functions_in(f"impl Stock {{\n  fn take() {{}}\n}}\n{rest}")
    assert found["Stock", "take"] == 2
    assert max(map(len, found)) <= 51, "deeper than people write"


SUITE, MODULE, CLASS = node_runners.SUITE, cargo.MODULE, kotlin_scala_tests.CLASS


@pytest.mark.parametrize(
    ("block", "begin", "many"),
    [
        (MODULE, "mod tests {\n", "/*"),
        (MODULE, "mod tests {\n", '"\\"'),
        (MODULE, "mod tests {\n", "\n"),
        (MODULE, "mod tests {\n", "\npub("),
        (MODULE, "mod tests {\n", "mod a {\n"),
        (MODULE, "mod tests {\n", "mod a {}\n"),
        (SUITE, "describe('tests', () => {\n", "`\\`"),
        (SUITE, "describe('tests', () => {\n", "'\\'"),
        (SUITE, "describe('tests', () => {\n", "describe('a', () => {\n"),
        (CLASS, "class tests {\n", "class A "),
    ],
)
def test_the_blocks_around_a_place_are_known_whatever_begins_there(
    block: re.Pattern[str], begin: str, many: str
) -> None:
    text = begin + many * SOME
    assert blocks_around(text, len(begin) + 1, block) == ["tests"]
    assert blocks_around(text, len(text), block)[0] == "tests"
    assert block_above(text, len(begin), block) == "tests"


def test_blocks_are_those_whose_own_brace_is_open() -> None:
    data = "data class Item(val name: String)\nclass Shelf {\n  // class Old {\n  @Test fun takes() {} }\nclass Last"
    assert blocks_around(data, data.index("takes"), CLASS) == ["Shelf"]
    assert (blocks_around(data, len(data), CLASS), block_above(data, len(data), CLASS)) == ([], "Last")
    assert (blocks_around("", 0, CLASS), block_above("", 0, CLASS)) == ([], None)
    line = 'describe("a", () => { it("b", () => {}); describe("{", () => { it("c")})})'
    assert [blocks_around(line, line.index(f'{each}"'), SUITE) for each in "bc"] == [["a"], ["a", "{"]]


PHP = "/** @test */ public function adds() {}"


@pytest.mark.parametrize(
    "many", ["/**", "/** */", "#[", "#[a] ", "final ", "public function ", "'\\'", '"\\"', "# '\n", "function a() {}"]
)
def test_tests_of_php_are_found_before_what_does_not_end(many: str) -> None:
    text = f"{PHP}\n{many * SOME}"
    assert at_line(text, 1, phpunit.METHOD)["name"] == "adds"


def test_methods_of_php_are_those_outside_of_strings_and_comments() -> None:
    text = f"['src/**/*.php', \"it's\"]; // public function testOld()\n# function testOlder()\n{PHP} '*/'"
    assert [found["name"] for found in found_tests(text, phpunit.METHOD)] == ["adds"]


@pytest.mark.parametrize(
    "many", ["/*", "\\`", '"\\"', "'\\'", "function(\n", "macro(a)\nendfunction()\n", "function(\nendmacro()\n"]
)
def test_the_first_statement_is_found_before_what_does_not_end(many: str) -> None:
    assert first_statement(f"import a\nfoo(1)\n{many * SOME}") == 2


def test_functions_of_cmake_end_with_their_own_word() -> None:
    text = "function(a)\n  macro(b)\n  endmacro()\nENDFUNCTION()\nmacro(c)\nendmacro(c)\nset(x 1)\nfunction(d)\n"
    assert first_statement(text) == 7
