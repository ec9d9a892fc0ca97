"""Safe evaluation as the server judges it, and on expressions that hypothesis makes up."""

import ast
import builtins

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.probe.checks import safe as checks
from trio_debugmcp.dap.profiles.language import Repl
from trio_debugmcp.dap.profiles.python import safe_syntax
from trio_debugmcp.probe.inside.safe.walk import Walk

NAMES = sorted(checks.program())
ATTRIBUTES = [
    "prop",
    "made",
    "data",
    "slot",
    "field",
    "price",
    "append",
    "get",
    "items",
    "nope",
    "__class__",
    "__dict__",
]
CALLED = ["len", "size", "work", "sorted_", "str", "repr", "sum", "max", "list", "getattr", "isinstance", "bool", "set"]

leaves = st.one_of(
    st.sampled_from(NAMES),
    st.sampled_from(["0", "-1", "3", "10 ** 9", "2.5", "'price'", "'x'", "None", "True", "[]", "{}", "(1, 2)"]),
)


def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Expressions made of these."""
    operators = st.sampled_from(["+", "-", "*", "/", "%", "**", "<<", "|", "==", "!=", "<", "in", "is", "and", "or"])
    return st.one_of(
        st.builds("{}.{}".format, inner, st.sampled_from(ATTRIBUTES)),
        st.builds("({})[{}]".format, inner, inner),
        st.builds("({} {} {})".format, inner, operators, inner),
        st.builds("(not {})".format, inner),
        st.builds("(-{})".format, inner),
        st.builds("{}({})".format, st.sampled_from(CALLED), inner),
        st.builds("{}({}, {})".format, st.sampled_from(CALLED), inner, inner),
        st.builds("{}.{}({})".format, inner, st.sampled_from(ATTRIBUTES), inner),
        st.builds("[{} for each in {} if {}]".format, inner, inner, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("[{}, *{}]".format, inner, inner),
        st.builds("{{{}: {}}}".format, inner, inner),
        st.builds('f"{{{}!r}}"'.format, st.sampled_from(NAMES)),
    )


PROGRAM = checks.program()
DIGEST = checks.digest(PROGRAM)


@given(st.recursive(leaves, larger, max_leaves=6))
def test_no_expression_runs_or_changes_anything(expression: str) -> None:
    checks.evaluated(expression, PROGRAM)
    assert checks.ran == []
    assert checks.digest(PROGRAM) == DIGEST


numbers = st.one_of(st.integers(-99, 99).map(str), st.sampled_from(["n", "numbers[0]", "prices['price']", "1.5"]))


@given(
    st.recursive(
        numbers,
        lambda inner: st.one_of(
            st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "<", "==", "and", "or"]), inner),
            st.builds("max({}, {})".format, inner, inner),
            st.builds("({} if {} else {})".format, inner, inner, inner),
        ),
        max_leaves=8,
    )
)
def test_what_is_evaluated_has_the_value_that_python_gives_it(expression: str) -> None:
    assert checks.evaluated(expression, PROGRAM) == eval(expression, {**PROGRAM, "__builtins__": vars(builtins)})


def test_the_kinds_of_expressions_that_pass_are_those_that_can_be_evaluated() -> None:
    kinds = {name for name, found in vars(ast).items() if isinstance(found, type) and issubclass(found, ast.expr)}
    able = {kind for kind in kinds if hasattr(Walk, f"_{kind.lower()}")} - {"Index"}
    assert able == safe_syntax.ALLOWED


@pytest.mark.parametrize(
    ("expression", "part", "rule"),
    [
        ("a + (n := 1)", "n := 1", "an assignment changes a name"),
        ("n = 1", "n = 1", "statements change something"),
        ("del a", "del a", "statements change something"),
        ("[await x for x in y]", "await x", "`await` lets tasks of the program run"),
        ("sorted(a, key=b)", "sorted(a, key=b)", "keywords are not passed"),
        ("(lambda: 1)()", "(lambda: 1)()", "only functions that have a name are called"),
        ("[lambda: 1]", "lambda: 1", "a lambda is a function of the program's"),
        ("(yield)", "(yield)", "`yield` would end"),
        ("f'{(yield)}'", None, "`yield` would end"),
        ("-" * 200 + "1", None, "it is nested too deeply"),
        ("'" + "x" * 5000 + "'", None, "an expression has at most 4000 characters"),
    ],
)
def test_what_the_syntax_shows_is_refused_with_its_part_and_rule(expression: str, part: str | None, rule: str) -> None:
    found = safe_syntax.rejection(expression)
    assert found is not None
    assert found.rule.startswith(rule)
    assert part is None or part.strip("()") == found.part.strip("()")


@pytest.mark.parametrize("expression", ["1 +", "", "a b", r"'\d'", "(" * 500 + "1" + ")" * 500])
def test_what_is_not_python_is_a_syntax_error(expression: str) -> None:
    with pytest.raises(SyntaxError):
        safe_syntax.rejection(expression)


@pytest.mark.parametrize(
    "expression", ["a", "a.b->c::d", "a[0].b['key']", 'm["k"]', "a.b >= 3", "x === 'y'", "-3 < a", "this.price != 2.5"]
)
def test_in_other_languages_names_members_constant_indices_and_comparisons_pass(expression: str) -> None:
    assert Repl().safe_rejection(expression) is None


@pytest.mark.parametrize(
    "expression",
    ["f()", "a = 1", "a++", "a[i]", "a + b", "a.b()", "*p", "a; b", "a, b", "`x`", "a < b < c", "new A"],
)
def test_in_other_languages_all_else_is_refused(expression: str) -> None:
    found = Repl().safe_rejection(expression)
    assert found is not None
    assert "constant indices" in found.rule
