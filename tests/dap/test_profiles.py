"""Which adapter a launch gets, and the defaults of a profile that only names what the DAP cannot know."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from trio_debugmcp.dap.adapter import Adapter, open_stdio_adapter
from trio_debugmcp.dap.messages import Capabilities, DapFrame, DapVariable, ExceptionBreakpointFilter
from trio_debugmcp.dap.profiles import Attach, Debugpy, Detect, Launch, Profile, Runtime, TypedException, choose
from trio_debugmcp.dap.profiles.exception_filters import filter_arguments, judged_conditions
from trio_debugmcp.dap.profiles.python.runnable import names_gevent, refuse_pydevd
from trio_debugmcp.errors import AdapterGone, CannotRun, UsageError


class Gdb(Profile):
    name: str = "gdb"
    language: str = "C"
    detect: Detect = Detect(suffixes=(".c", ".out"))
    install_hint: str = "apt install gdb"

    def locate(self) -> str | None:
        return "/usr/bin/gdb"

    def open(self, launch: Launch, runtime: Runtime) -> AbstractAsyncContextManager[Adapter]:
        return open_stdio_adapter(["gdb", "--interpreter=dap"], runtime.watchdog)

    def open_attached(self, attach: Attach, runtime: Runtime) -> AbstractAsyncContextManager[Adapter]:
        return open_stdio_adapter(["gdb", "--interpreter=dap"], runtime.watchdog)

    def launch_arguments(self, launch: Launch) -> dict[str, Any]:
        return {"program": launch.program}

    def attach_arguments(self, attach: Attach) -> dict[str, Any]:
        return {"pid": attach.pid}


KNOWN = (Debugpy(), Gdb())


def chosen(adapter: str | None, program: str | None) -> str:
    return choose(adapter, program, KNOWN, lambda profile: profile.locate()).name


@pytest.mark.parametrize(
    ("adapter", "program", "name"),
    [
        ("gdb", None, "gdb"),
        ("GDB", "/x/main.py", "gdb"),
        ("c", None, "gdb"),
        ("Python", None, "debugpy"),
        (None, "/x/main.PY", "debugpy"),
        (None, "/x/a.out", "gdb"),
        (None, None, "debugpy"),
    ],
)
def test_an_adapter_is_chosen_by_name_then_by_language_then_by_file(
    adapter: str | None, program: str | None, name: str
) -> None:
    assert chosen(adapter, program) == name


@pytest.mark.parametrize(
    ("adapter", "program", "message"),
    [
        (
            "delve",
            "/x/main.py",
            "There is no debug adapter named 'delve'. Pass `adapter`, one of: debugpy (Python); gdb (C).",
        ),
        (
            None,
            "/x/main.go",
            "There is no debug adapter for '/x/main.go'. Pass `adapter`, one of: debugpy (Python); gdb (C).",
        ),
    ],
)
def test_an_unknown_adapter_or_file_is_refused_with_the_names_of_the_known_ones(
    adapter: str | None, program: str | None, message: str
) -> None:
    with pytest.raises(UsageError) as refused:
        chosen(adapter, program)
    assert (refused.value.code, refused.value.message, refused.value.details) == ("ADAPTER_NOT_FOUND", message, {})


def test_an_adapter_that_is_not_installed_is_refused_with_the_command_that_installs_it() -> None:
    asked: list[Profile] = []

    def locate(profile: Profile) -> None:
        asked.append(profile)

    with pytest.raises(UsageError) as refused:
        choose("gdb", None, KNOWN, locate)
    assert refused.value.message == "The debug adapter gdb is not installed. Install it with: apt install gdb"
    assert refused.value.details == {"adapter": "gdb", "install": "apt install gdb"}
    assert asked == [KNOWN[-1]]


def test_exception_filters_for_raised_and_uncaught_exceptions_differ_by_name() -> None:
    offered = Capabilities(
        exception_breakpoint_filters=[
            ExceptionBreakpointFilter("cpp_throw"),
            ExceptionBreakpointFilter("uncaughtExceptions"),
        ]
    )
    dialect = Gdb().dialect

    def filters(*, first: bool, second: bool) -> list[str]:
        wanted = [TypedException("*", first_chance=first, second_chance=second)]
        names: list[str] = dialect.exception_arguments(wanted, offered)["filters"]
        return names

    assert filters(first=True, second=False) == ["cpp_throw"]
    assert filters(first=False, second=True) == ["uncaughtExceptions"]
    assert filters(first=True, second=True) == ["cpp_throw", "uncaughtExceptions"]
    assert filters(first=False, second=False) == []


def offering(*filters: str | ExceptionBreakpointFilter, options: bool = True) -> Capabilities:
    """An adapter with these filters."""
    known = [ExceptionBreakpointFilter(each) if isinstance(each, str) else each for each in filters]
    return Capabilities(exception_breakpoint_filters=known, supports_exception_filter_options=options)


RAISED = TypedException("*", first_chance=True, second_chance=False)
LEAVING = TypedException("*", first_chance=False, second_chance=False, user_unhandled=True)


def test_exception_filters_stop_for_what_is_thrown_and_not_again_where_it_is_caught() -> None:
    ada = ExceptionBreakpointFilter("assert", "Ada assertions")
    gdb = offering(ada, "throw", "rethrow", "catch")
    assert filter_arguments([RAISED], gdb) == {"filters": ["throw"]}
    lldb = offering("cpp_catch", "cpp_throw", "objc_catch", "objc_throw", "swift_catch")
    assert filter_arguments([RAISED], lldb) == {"filters": ["cpp_throw", "objc_throw", "swift_catch"]}
    assert filter_arguments([LEAVING], offering("raised", "userUnhandled", "uncaught")) == {
        "filters": ["userUnhandled"]
    }


def test_an_adapter_judges_the_condition_of_a_filter_that_serves_one_breakpoint() -> None:
    able = ExceptionBreakpointFilter("raised", supports_condition=True)
    some, other = replace(RAISED, condition="x > 1"), replace(RAISED, condition="y")
    by_adapter = filter_arguments([some, replace(LEAVING, condition="z")], offering(able))
    assert by_adapter == {"filters": [], "filterOptions": [{"filterId": "raised", "condition": "x > 1"}]}
    assert judged_conditions(by_adapter) == {"x > 1"}
    for wanted, offered in (
        ([some, other], offering(able)),
        ([some, RAISED], offering(able)),
        ([some], offering("raised")),
        ([some], offering(able, options=False)),
        ([RAISED], offering(able)),
    ):
        assert filter_arguments(wanted, offered) == {"filters": ["raised"]}
        assert judged_conditions(filter_arguments(wanted, offered)) == frozenset()
    both = replace(some, second_chance=True)
    uncaught = ExceptionBreakpointFilter("uncaught", supports_condition=True)
    assert len(filter_arguments([both], offering(able, uncaught))["filterOptions"]) == 2
    shared = filter_arguments([both, replace(LEAVING, second_chance=True)], offering(able, uncaught))
    assert shared == {"filters": ["raised", "uncaught"]}, "the condition cannot be judged wherever it is meant"


def test_a_child_session_is_not_served_unless_the_profile_says_so() -> None:
    assert Gdb().serves_child({"port": 1}) is False
    with pytest.raises(AdapterGone, match="child sessions of gdb are not supported"):
        Gdb().open_child({"port": 1}, cast("Runtime", None), None)


def test_the_module_of_a_frame_is_its_id_as_text_unless_the_adapter_has_none() -> None:
    dialect = Gdb().dialect
    assert dialect.module_name(DapFrame(1, "main", module_id=7)) == "7"
    assert dialect.module_name(DapFrame(1, "main")) is None


def test_pydevds_groups_and_its_own_variable_are_hidden_but_not_variables_of_the_program() -> None:
    hides = Debugpy().dialect.hides
    assert hides(DapVariable("special variables"))
    assert hides(DapVariable("__exception__", value="(...)"))
    assert not hides(DapVariable("special variables", value="'mine'"))
    assert not hides(DapVariable("x"))


def test_percent_signs_are_escaped_in_a_log_message_with_expressions() -> None:
    log_message = Debugpy().dialect.log_message
    assert log_message("bp-1", "{share} % done").endswith("{share} %% done")
    assert log_message("bp-1", "100 % done").endswith("100 % done")


@pytest.mark.parametrize(
    "message",
    [
        "{x!r:>8} {x:.2f} {{x}} {x} 100 %",
        "{x=} { {1: {2}}[1] } {x:{width}}",
        "{name % x} {'}'} {name:%>5}",
    ],
)
def test_a_message_that_pydevd_does_not_understand_is_written_as_one_expression(message: str) -> None:
    """As pydevd reads it: what is between the outermost braces is evaluated."""
    names = {"x": 2.5, "width": 6, "name": "a%s"}
    written = Debugpy().dialect.log_message("bp-1", message).partition("\x03")[2]
    assert (written[0], written[-1]) == ("{", "}")
    assert not {"{", "}"} & set(written[1:-1])
    assert eval(written[1:-1], dict(names)) == eval(f'f"""{message}"""', dict(names))


@pytest.mark.parametrize("option", ["module", "code"])
def test_a_launch_of_a_module_or_of_code_names_no_program(option: str) -> None:
    launch = Launch("/x/main.py", cwd="/x")
    assert Debugpy().launch_arguments(launch)["program"] == "/x/main.py"
    arguments = Debugpy().launch_arguments(Launch("/x/main.py", cwd="/x", options={option: "pkg"}))
    assert arguments[option] == "pkg"
    assert "program" not in arguments


def test_a_program_names_gevent_in_its_script_its_arguments_or_its_code(tmp_path: Path) -> None:
    patched, other = tmp_path / "patched.py", tmp_path / "other.py"
    patched.write_text("from gevent import monkey\n\nmonkey.patch_all()\n")
    other.write_text("import gevents\n")
    launch = Launch(str(other), cwd="/x")
    assert names_gevent(replace(launch, program=str(patched)))
    assert names_gevent(replace(launch, options={"module": "gunicorn"}, args=("-k", "gevent")))
    assert names_gevent(replace(launch, options={"code": "import gevent.monkey"}))
    assert not names_gevent(launch)
    assert not names_gevent(replace(launch, program=str(tmp_path / "none.py")))


def test_what_eventlet_patches_is_refused_to_pydevd_unless_it_is_asked_for(tmp_path: Path) -> None:
    patched, other = tmp_path / "patched.py", tmp_path / "other.py"
    patched.write_text("import eventlet\n\neventlet.monkey_patch()\n")
    other.write_text("import eventlet\n")
    launch = Launch(str(patched), (), str(tmp_path))
    with pytest.raises(CannotRun, match=r"eventlet\.monkey_patch\(\) replaces locks"):
        refuse_pydevd(launch, ["python"])
    refuse_pydevd(replace(launch, options={"engine": "pydevd"}), ["python"])
    refuse_pydevd(replace(launch, program=str(other)), ["python"])


def test_what_pydevd_adds_to_the_names_of_frames_and_exceptions_is_taken_off() -> None:
    dialect = Debugpy().dialect
    assert dialect.function_name("work (Current frame)") == "work"
    assert dialect.function_name("[Chained Exc: invalid literal [for] int()] total") == "total (of a cause)"
    assert dialect.function_name("<module>") == "<module>"
    leaving = "ValueError       (note: full exception trace is shown but execution is paused at: work)"
    assert dialect.exception_kind(leaving, "always") == ("ValueError", "userUnhandled")
    assert dialect.exception_kind(leaving, "unhandled") == ("ValueError", "unhandled")
    assert dialect.exception_kind("ValueError", "always") == ("ValueError", "always")
