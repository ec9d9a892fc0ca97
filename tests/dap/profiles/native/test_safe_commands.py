"""Commands that evaluate without calls: what is sent, what never is, and what the answers mean."""

import pytest

from trio_debugmcp.dap.profiles import profile_named
from trio_debugmcp.dap.profiles.language import Repl
from trio_debugmcp.dap.profiles.native.safe_commands import SafeCommands, SafeRepl


def repl_of(name: str) -> Repl:
    profile = profile_named(name)
    assert profile is not None
    return profile.repl


def test_a_path_is_followed_first_where_the_debugger_has_a_way_for_that() -> None:
    assert repl_of("gdb").safe_commands(" a.b ") == ["with may-call-functions off -- output a.b"]
    assert repl_of("lldb-dap").safe_commands("a.b") == [
        "`frame variable -- a.b",
        "`expression --allow-jit false -- a.b",
    ]


@pytest.mark.parametrize(
    "expression",
    [
        'a["\nshell id"]',
        "a['\n']",
        "a\nb",
        "a['`id`']",
        'a["b"]',
        "a;b",
        "a\tb",
        "a\x00",
        "call()",
        "a = b",
        "$_exit(1)",
    ],
)
def test_nothing_passes_that_a_command_line_could_take_for_more(expression: str) -> None:
    for name in ("gdb", "lldb-dap"):
        assert repl_of(name).safe_rejection(expression) is not None


@pytest.mark.parametrize("expression", ["a", "a.b->c::d[3]", "a[0] == 't'", "$pc", "a.b >= -3.5", "  a "])
def test_names_members_indices_and_a_comparison_pass(expression: str) -> None:
    assert repl_of("gdb").safe_rejection(expression) is None


def test_a_condition_with_a_text_is_evaluated_again_but_none_that_calls_or_assigns() -> None:
    repl = repl_of("gdb")
    assert all(map(repl.changes_nothing, ('name == "dan"', 'order.name != "a \\"b\\" (c)"', "n > 2")))
    assert not any(map(repl.changes_nothing, ('same(name, "dan")', 'name = "dan"', 'name == "dan', "n++ > 2")))


def test_an_answer_has_a_value_and_a_type_or_is_an_error() -> None:
    gdb, lldb = repl_of("gdb"), repl_of("lldb-dap")
    assert gdb.safe_answer("{cents = 5}") == ("{cents = 5}", None)
    assert lldb.safe_answer("(lldb) frame variable -- a[1]\n(int) a[1] = 2\n") == ("2", "int")
    assert lldb.safe_answer("(lldb) expression -- a == b\n(bool) $0 = true\n") == ("true", "bool")
    assert lldb.safe_answer("(lldb) frame variable -- a\n(Basket) a = {\n  n = 1\n}\n") == ("{\n  n = 1\n}", "Basket")
    with pytest.raises(ValueError, match=r"^use of undeclared identifier 'a'$"):
        lldb.safe_answer("(lldb) x\nerror: <user expression 0>:1:1: use of undeclared identifier 'a'\n    1 | a\n")
    with pytest.raises(ValueError, match=r"^what is this$"):
        lldb.safe_answer("what is this\n")


def test_an_error_tells_whether_the_program_would_have_to_be_called() -> None:
    assert repl_of("gdb").needs_call("Cannot call functions in the program: may-call-functions is off.")
    assert repl_of("lldb-dap").needs_call("Can't evaluate the expression without a running target due to: …")
    assert not repl_of("gdb").needs_call('No symbol "a" in current context.')
    assert not SafeRepl(SafeCommands("{expression}")).needs_call("anything")
