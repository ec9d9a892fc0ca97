"""JavaScript as js-debug shows it: values, names, exceptions, and what node prints of a crash."""

import json
from typing import Any
from urllib.parse import quote

import pytest

from trio_debugmcp.dap.messages import Capabilities, DapVariable, Stopped
from trio_debugmcp.dap.profiles import Launch, Profile, profile_named
from trio_debugmcp.dap.profiles.exception_filters import TypedException, judged_conditions
from trio_debugmcp.dap.profiles.javascript.printed_errors import printed_in
from trio_debugmcp.dap.profiles.printed_exceptions import Crash, CrashFrame


def profile() -> Profile:
    found = profile_named("js-debug")
    assert found is not None
    return found


def filters(*wanted: TypedException) -> list[tuple[str, str | None]]:
    """The filters that are sent, and the mode that an exception is kept with."""
    arguments = profile().dialect.exception_arguments(wanted, Capabilities())
    modes = [
        (each["filterId"], "always" if "mode:'always'" in each["condition"] else "unhandled")
        for each in arguments["filterOptions"]
    ]
    return [*((each, None) for each in arguments["filters"]), *modes]


THROWN, UNCAUGHT = TypedException("Sold", True, False), TypedException("*", False, True)


def test_what_is_kept_of_an_exception_tells_whether_anything_catches_it() -> None:
    assert filters() == []
    assert filters(THROWN) == [("all", "always"), ("uncaught", "always")]
    assert filters(UNCAUGHT) == [("uncaught", "unhandled")]
    assert filters(THROWN, UNCAUGHT) == [("uncaught", None), ("all", "always")]
    assert filters(TypedException("*", False, False, user_unhandled=True)) == [("uncaught", "unhandled")]
    assert judged_conditions({"filterOptions": [{"filterId": "all"}]}) == frozenset()


@pytest.mark.parametrize(
    ("description", "mode", "is_doubted"),
    [
        ("Paused on promise rejection", "unhandled", True),
        ("Paused on promise rejection", "always", False),  # where it is thrown nothing is claimed
        ("Paused on exception", "unhandled", False),
    ],
)
def test_that_nothing_handles_a_rejection_is_a_claim(description: str, mode: str, is_doubted: bool) -> None:
    said = profile().words.doubt(Stopped(reason="exception", description=description), mode)
    assert (said is not None and "a handler that is added later" in said) is is_doubted


@pytest.mark.parametrize(
    ("described", "kind", "message"),
    [
        ("TypeError: bad 2", "TypeError", "bad 2"),
        ("errors.Sold: none\nleft", "errors.Sold", "none\nleft"),
        ("Error", "Error", ""),
        ("42", "42", ""),
    ],
)
def test_a_type_and_a_message_come_in_one(described: str, kind: str, message: str) -> None:
    assert profile().dialect.exception_kind(described, "all") == (kind, "unhandled")
    assert profile().words.exception_message(described) == message


@pytest.mark.parametrize(
    ("kept", "passed"),
    [
        ({"passed": {"a": "x", "b": True, "c": 2.5, "d": -1, "e": 3}}, {"e": 3}),
        ({"passed": [1]}, {}),
        ({"mode": {"a": 1}}, None),
        ({"lineage": 7}, None),
        ({"type": None}, None),
    ],
)
def test_what_a_program_has_put_where_an_exception_is_kept_is_passed_over(
    kept: dict[str, Any], passed: dict[str, int] | None
) -> None:
    look = profile().thrown.exception()
    next(look)
    with pytest.raises(StopIteration) as found:
        look.send(quote(json.dumps({"type": "Sold", **kept})))
    assert getattr(found.value.value, "passed", None) == passed


def test_what_was_kept_is_the_description_of_an_exception() -> None:
    look = profile().thrown.exception()
    assert "Symbol.for" in next(look)
    described: dict[str, Any] = {"type": "Sold", "message": "none left", "lineage": ["Sold", "Error"], "mode": "always"}
    with pytest.raises(StopIteration) as found:
        look.send(f"'{quote(json.dumps(described))}'")
    seen = found.value.value
    assert (seen.type, seen.message, seen.lineage, seen.mode) == ("Sold", "none left", ("Sold", "Error"), "always")
    assert seen.passed == {}
    look = profile().thrown.exception()
    next(look)
    with pytest.raises(StopIteration) as counted:
        look.send(quote(json.dumps({**described, "passed": {"RangeError": 2}})))
    assert counted.value.value.passed == {"RangeError": 2}
    look = profile().thrown.exception()
    next(look)
    with pytest.raises(StopIteration) as nothing:
        look.send("''")
    assert nothing.value.value is None


def test_what_is_behind_an_exception_has_its_frames() -> None:
    inner = {"type": "RangeError", "message": "in", "way": "cause", "stack": "RangeError: in\n    at f (/a.js:3:9)"}
    for value, behind in (
        (quote(json.dumps([inner])), (Crash("RangeError: in", (CrashFrame("f", "/a.js", 3),), way="cause"),)),
        (None, ()),
    ):
        look = profile().thrown.behind()
        assert look is not None
        next(look)
        with pytest.raises(StopIteration) as found:
            look.send(value)
        assert found.value.value == behind


@pytest.mark.parametrize(
    ("wanted", "shown", "may"),
    [
        ("TypeError", "TypeError", True),
        ("TypeError", "RangeError", False),
        ("Error", "RangeError", True),
        ("Sold", "Error", True),
    ],
)
def test_an_error_that_was_not_kept_may_be_of_a_class_of_the_programs(wanted: str, shown: str, may: bool) -> None:
    assert profile().thrown.may_be(wanted, shown) is may


def test_values_are_shown_without_what_does_not_fit_in_a_line() -> None:
    shown = profile().values.shown
    assert shown("ƒ add(a, b) {\n  return a + b;\n}", "Function") == "ƒ add(a, b) {…}"
    assert shown("class A {}", "Function") == "class A {}"
    assert shown("RangeError: in\n    at f (/a.js:3:9)\n    at g (/a.js:4:1)", "RangeError") == "RangeError: in"
    assert shown("'two\nlines'", "string") == "'two\nlines'"


@pytest.mark.parametrize(
    ("value", "inside", "shown"),
    [
        ("(2) [{…}, 1]", [("0", "{id: 1}"), ("1", "1"), ("length", "2")], "(2) [{id: 1}, 1]"),
        ("(2) [Array(2), {…}]", [("0", "(2) [1, 2]"), ("1", "{}")], "(2) [(2) [1, 2], {}]"),
        ("{a: {…}, s: Set(1)}", [("a", "{b: 1}"), ("s", "Set(1) {2}")], "{a: {b: 1}, s: Set(1) {2}}"),
        ("Cart {items: Array(1)}", [("items", "(1) [3]"), ("length", "4")], "Cart {items: (1) [3], length: 4}"),
        ("(3) [1, 2, 3]", [("0", "1")], None),
        ("{a: {…}, b: 2, …}", [("a", "{}")], None),
        ("(51) [{…}, {…}]", [("0", "{}")], None),
        ("Map(1) {{…} => 1}", [("0", "{{…} => 1}")], None),
        ("f(1)", [("0", "1")], None),
    ],
)
def test_placeholders_of_what_is_inside_are_filled(
    value: str, inside: list[tuple[str, str]], shown: str | None
) -> None:
    assert profile().values.placeholders.filled(value, inside) == shown


def test_a_long_array_of_objects_is_shown_by_one_placeholder() -> None:
    items = ", ".join(["{…}"] * 100)
    assert profile().values.shown(f"(200) [{items}, …]", "Array") == "(200) [{…}, …, …]"
    assert profile().values.shown("(3) [{…}, {…}, {…}]", "Array") == "(3) [{…}, {…}, {…}]"


def variables(*named: tuple[str, str]) -> list[DapVariable]:
    return [DapVariable(name, value, evaluate_name=name) for name, value in named]


def test_what_node_gives_to_a_module_is_not_among_its_variables() -> None:
    values = profile().values
    given = [(each, "…") for each in ("__dirname", "__filename", "exports", "module", "require", "this")]
    assert [each.name for each in values.locals_of(variables(("total", "1"), *given))] == ["total"]
    own = variables(("module", "'own'"), ("this", "Cart"))
    assert values.locals_of(own) == own
    assert values.locals_of(variables(("this", "global"), ("this", "undefined"))) == []


@pytest.mark.parametrize(
    ("shown", "children", "items"),
    [
        ("(3) [1, 2, 3]", {"0": "1", "1": "2", "length": "2"}, ["0", "1"]),
        ("(1) [ƒ]", {"0": "ƒ () {}", "length": "1"}, ["0"]),
        ("Map(2) {size: 2, a => 1}", {"0": '{"a" => 1}', "1": '{"b" => 2}', "size": "2"}, ["0", "1"]),
        ("Uint8Array(1) [4]", {"0": "4", "buffer": "ƒ buffer()", "Symbol(a)": "undefined"}, ["0"]),
        ("{a: 1, f: ƒ}", {"a": "1", "f": "ƒ f() {}", "length": "9"}, ["a", "length"]),
    ],
)
def test_items_are_not_lengths_or_functions(shown: str, children: dict[str, str], items: list[str]) -> None:
    inside = [DapVariable(name=name, value=value) for name, value in children.items()]
    assert [each.name for each in profile().values.items_of(shown, inside)] == items


@pytest.mark.parametrize(
    ("program", "said", "advised"),
    [
        ("/a/app.ts", "SyntaxError: Missing initializer in const declaration", True),
        ("/a/app.mts", 'TypeError: Unknown file extension ".mts"', True),
        ("/a/app.ts", "TypeError: bad plum", False),
        ("/a/app.js", "SyntaxError: Unexpected token", False),
    ],
)
def test_typescript_that_was_run_as_it_is_has_to_be_built(program: str, said: str, advised: bool) -> None:
    advice = profile().programs.start_advice(program, said)
    assert (advice is not None and "`tsc --sourceMap`" in advice) is advised


def test_functions_and_what_is_returned_differ_from_variables() -> None:
    values = profile().values
    definitions = variables(("f", "ƒ f() {}"), ("g", "async ƒ g() {}"), ("h", "ƒ* h() {}"), ("A", "class A {}"))
    assert all(map(values.is_definition, definitions))
    assert not values.is_definition(variables(("x", "classic"))[0])
    assert values.is_returned(DapVariable("Return value", "1", evaluate_name="$returnValue"))
    assert not values.is_returned(DapVariable("value", "1", evaluate_name="value"))


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("global.add", "add"),
        ("Cart.total", "Cart.total"),
        ("function Module(id = '', parent) {.executeUserEntryPoint", "executeUserEntryPoint"),
        ("class Cart {.make", "Cart.make"),
        ("<anonymous>", "<anonymous>"),
    ],
)
def test_a_function_is_named_without_the_text_of_what_it_is_called_on(name: str, plain: str) -> None:
    assert profile().dialect.function_name(name) == plain


@pytest.mark.parametrize(
    ("name", "path"),
    [("0", "a[0]"), ("price", "a.price"), ("#own", "a.#own"), ("two words", "a['two words']"), ("[[Entries]]", None)],
)
def test_the_path_of_a_member_is_one_that_javascript_has(name: str, path: str | None) -> None:
    assert profile().values.member("a", name, None) == path


def test_a_stop_says_what_its_reason_does_not() -> None:
    words = profile().words
    assert words.why(Stopped(reason="breakpoint", description="Paused on breakpoint")) is None
    assert words.why(Stopped(reason="pause", description="Debugger statement")) == "Debugger statement"
    assert words.plain_error("Uncaught ReferenceError: a is not defined") == "ReferenceError: a is not defined"


def test_only_the_users_code_is_stepped_through_and_where_assertions_raise_unless_all_is_wanted() -> None:
    skipped = [profile().launch_arguments(Launch("/app.js", just_my_code=each))["skipFiles"] for each in (True, False)]
    assert {"<node_internals>/!(assert*)", "**/node_modules/**", "!**/node_modules/chai/**"} <= set(skipped[0])
    assert skipped[1] == []


# --- What node prints -------------------------------------------------------------------------------------------------

FRAMES = (
    CrashFrame("fail", "/src/main.js", 14),
    CrashFrame("<anonymous>", "/src/main.js", 25),
    CrashFrame("process.processTicksAndRejections", "node:internal/process/task_queues", 95, True),
)


def test_a_crash_is_read_with_its_cause() -> None:
    crash = printed_in(
        "caught bad 1\nnode:internal/process/promises:391\n    triggerUncaughtException(err, true);\n    ^\n\n"
        "TypeError: bad 2\n    at fail (/src/main.js:14:9)\n    at /src/main.js:25:45\n"
        "    at process.processTicksAndRejections (node:internal/process/task_queues:95:5) {\n"
        "  [cause]: RangeError: inner\n      at fail (/src/main.js:13:17)\n}\n\nNode.js v20.20.2\n"
    ).crash
    inner = Crash("RangeError: inner", (CrashFrame("fail", "/src/main.js", 13),), way="cause")
    assert crash == Crash("TypeError: bad 2", FRAMES, inner=(inner,))


def test_a_value_that_is_thrown_is_at_the_place_above_it() -> None:
    crash = printed_in(
        "\n/src/a.js:1\nfunction f(){ throw 42 }\n              ^\n42\n"
        "(Use `node --trace-uncaught ...` to show where the exception was thrown)\n\nNode.js v20.20.2\n"
    ).crash
    assert crash == Crash("42", (CrashFrame("<anonymous>", "/src/a.js", 1, False, "function f(){ throw 42 }"),))


def test_a_file_that_is_not_valid_is_where_the_crash_is() -> None:
    crash = printed_in(
        "/src/a.js:1\nlet x = ;\n        ^\n\nSyntaxError: Unexpected token ';'\n"
        "    at wrapSafe (node:internal/modules/cjs/loader:1464:18)\n\nNode.js v20.20.2\n"
    ).crash
    assert crash is not None
    assert (crash.exception, [each.file for each in crash.frames]) == (
        "SyntaxError: Unexpected token ';'",
        ["/src/a.js", "node:internal/modules/cjs/loader"],
    )


def test_a_module_of_ecmascript_is_a_file_and_a_class_has_its_own_name() -> None:
    crash = printed_in(
        "file:///src/a%20b.mjs:3\n  throw new Sold();\n  ^\n\nSold [Error]: rejected\n"
        "    at new Sold (file:///src/a%20b.mjs:3:7) {\n  sku: 7\n}\n\nNode.js v20.20.2\n"
    ).crash
    assert crash == Crash("Sold: rejected", (CrashFrame("Sold", "/src/a b.mjs", 3),))


@pytest.mark.parametrize(
    ("frame", "is_unseen"),
    [
        ("pay (file:///src/a.mjs:3:7)", True),
        ("file:///src/a.mjs:3:7", True),
        ("async file:///src/a.mjs:3:7", True),
        ("ModuleJob.run (node:internal/modules/esm/module_job:325:25)", True),
        ("pay (/src/a.js:3:7)", False),
    ],
)
def test_what_a_module_of_ecmascript_throws_is_not_seen_by_the_debugger(frame: str, is_unseen: bool) -> None:
    printed = printed_in(f"/src/a:3\n  throw 1;\n  ^\n\nSold: x file://\n    at {frame}\n\nNode.js v20.20.2\n")
    assert (printed.unseen is not None) is is_unseen


@pytest.mark.parametrize("text", ["", "done\n", "^\n\nError: x\n", "Node.js v20\n", "x\n^\n\n\nNode.js v20\n"])
def test_output_without_a_crash_has_none(text: str) -> None:
    assert printed_in(text).crash is None


def test_a_condition_that_js_debug_does_not_take_is_found_in_what_it_writes() -> None:
    said = 'Syntax error setting breakpoint with condition "a == \\"x\\" &&" on line 8: Unexpected token \';\''
    assert profile().dialect.condition_failure(said) == ('a == "x" &&', "it does not parse: it ends too early")
    with_one = "Syntax error setting breakpoint with condition \"a ; b\" on line 8: Unexpected token ';'"
    assert profile().dialect.condition_failure(with_one) == ("a ; b", "it does not parse: Unexpected token ';'")
    assert profile().words.is_routine(said)
    assert profile().dialect.condition_failure("Syntax error\n") is None
    assert not profile().words.is_routine("Syntax error\n")
