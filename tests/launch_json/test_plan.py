"""What the caller passes, compounds, inputs, and the other system."""

from typing import Any

import pytest

from tests.launch_json.projects import context, launch_file
from trio_debugmcp.errors import UsageError
from trio_debugmcp.launch_json.files import read_launch_file
from trio_debugmcp.launch_json.plan import Compound, Instead, Plan, is_compound, resolve, resolve_compound


def plan(project: str, name: str, instead: Instead | None = None, **known: Any) -> Plan:
    return resolve(launch_file(project), name, context(project, **known), instead)


def of(configuration: str, **known: Any) -> Plan:
    text = '{"configurations": [{"name": "a", "type": "debugpy", "request": "launch", ' + configuration + "}]}"
    return resolve(read_launch_file(text, "launch.json"), "a", context("none", **known))


def test_what_the_caller_passes_is_in_place_of_what_the_configuration_says() -> None:
    instead = Instead(args=("a b",), cwd="/else", env={"FLASK_DEBUG": "0"}, stop_at_entry=True, just_my_code=True)
    found = plan("flask-shop", "Python Debugger: Flask", instead)
    assert (found.args, found.cwd, found.env["FLASK_DEBUG"]) == (("a b",), "/else", "0")
    assert (found.env["FLASK_APP"], found.stop_at_entry, found.just_my_code) == ("shop/app.py", True, True)
    # Its own are not needed then, even if they cannot be had.
    name = "Python Debugger: Current File with Arguments"
    assert plan("pytest-library", name, Instead(args=("x",)), file="a.py").args == ("x",)


def test_an_input_is_given_selected_by_its_label_or_has_a_default() -> None:
    def level(**inputs: object) -> str:
        return plan("cpp-cmake", "Engine", inputs=inputs).args[1]

    assert level() == "one"
    assert level(level="two") == "two"
    with pytest.raises(UsageError, match=r"The input 'level' is one of one, two; not 'three'."):
        level(level="three")

    def which(**inputs: object) -> str:
        return plan("pytest-library", "pytest: this file", file="a.py", inputs=inputs).args[-1]

    assert which(which="slow or quick") == which(which="all of them") == "slow or quick"
    with pytest.raises(UsageError) as caught:
        which()
    assert caught.value.message.endswith(
        "uses ${input:which} (Which tests?), which has no default. Pass one of slow, quick, slow or quick: "
        'inputs={"which": "…"}.'
    )
    # What an editor's command would answer can be given.
    assert plan("cannot-be-had", "asked", inputs={"asked": "a.py"}).program == "/src/cannot-be-had/a.py"
    assert plan("fastapi-celery", "Attach, the old way", inputs={"port": 1234}).port == 1234


def test_a_file_and_a_process_have_to_be_given_where_they_are_meant() -> None:
    with pytest.raises(UsageError) as caught:
        plan("pytest-library", "Python Debugger: Current File")
    assert caught.value.message == (
        "The configuration 'Python Debugger: Current File' of .vscode/launch.json uses ${file}, the file that is open "
        "in an editor. Pass `file`: the one that is meant."
    )
    with pytest.raises(UsageError, match=r"uses \$\{command:PickProcess\}: the process to attach to. Pass `pid`."):
        plan("node-express", "Attach by Process ID")
    # A process that is given is not in place of an address.
    assert plan("node-express", "Docker: Attach to Node", pid=7).pid is None
    assert of('"request": "attach"', pid=7).pid == 7


def test_a_section_is_laid_over_on_its_own_system_only() -> None:
    on_mac = plan("cpp-cmake", "Engine", platform="osx")
    assert (on_mac.adapters, on_mac.args) == (("lldb-dap", "lldb"), ("--level", "mac"))
    assert on_mac.options == {"sourceMap": [["/build/src", "/src/cpp-cmake/src"]]}
    assert plan("fastapi-celery", "Celery worker", platform="osx").env == {"OBJC_DISABLE_INITIALIZE_FORK_SAFETY": "YES"}


def test_files_outside_the_folder_have_a_relative_path_all_the_same() -> None:
    found = plan("every-variable", "Variables", file="../other/deep/a.tar.gz", pid=1, inputs={"name": ""})
    assert found.env["relativeFile"] == "../other/deep/a.tar.gz"


def test_compounds_name_configurations_that_are_there() -> None:
    file = launch_file("full-stack")
    assert is_compound(file, "Everything")
    assert not is_compound(file, "API")
    assert resolve_compound(file, "Everything") == Compound("Everything", ("API", "Worker", "Web"))
    assert resolve_compound(file, "API and worker") == Compound(
        "API and worker", ("API", "Worker"), stop_all=True, pre_task="services"
    )
    with pytest.raises(UsageError) as caught:
        resolve_compound(file, "Old")
    assert caught.value.message == (
        "The compound 'Old' of .vscode/launch.json names 'Mailer', which is not there. Configurations: API, Worker, "
        "Web, Elsewhere."
    )
    empty = read_launch_file('{"compounds": [{"name": "a", "configurations": []}]}', "launch.json")
    with pytest.raises(UsageError, match=r"The compound 'a' of launch.json must name its `configurations`."):
        resolve_compound(empty, "a")


def test_a_configuration_that_is_not_there_is_answered_with_those_that_are() -> None:
    with pytest.raises(UsageError) as caught:
        plan("full-stack", "Mailer")
    assert caught.value.message == (
        "There is no configuration 'Mailer' in .vscode/launch.json. Configurations: API, Worker, Web, Elsewhere, API "
        "and worker, Everything, Old."
    )


def test_what_is_assumed_shows_what_else_is_wrong() -> None:
    assert plan("pytest-library", "pytest: this file", assumes=True).args[-1] == "slow"
    assert plan("node-express", "Attach by Process ID", assumes=True).pid == 0
    with pytest.raises(UsageError, match="settings"):
        of('"program": "${file}", "args": ["${config:settings}"]', assumes=True)


def test_env_files_come_before_env_and_later_ones_before_earlier() -> None:
    assert plan("go-service", "Server").env == {"LOG": "debug", "REGION": "local-eu"}
    with pytest.raises(UsageError, match="`envFile` must be the path of a file, not the number 1"):
        of('"envFile": [1]')


def test_numbers_and_flags_may_come_from_inputs_as_texts() -> None:
    assert of('"stopOnEntry": "true"').stop_at_entry is True
    assert of('"stopOnEntry": "false"').stop_at_entry is False
    assert of('"args": [1, true, "c"]').args == ("1", "true", "c")
    assert of('"noDebug": true').notes == ("`noDebug` is passed over: the program runs under the debugger",)
