import json
import sys
import types
from collections.abc import Iterator
from typing import Any

import pytest

from trio_debugmcp.probe import bootstrap
from trio_debugmcp.probe.bootstrap import call_expression, install_expression


@pytest.fixture
def host() -> Iterator[types.ModuleType]:
    """A module of the name of pydevd's, which here is not loaded."""
    assert bootstrap.HOST not in sys.modules
    module = sys.modules[bootstrap.HOST] = types.ModuleType(bootstrap.HOST)
    module.get_global_debugger = lambda: None  # type: ignore[attr-defined]
    yield module
    del sys.modules[bootstrap.HOST]


def evaluate(expression: str) -> Any:
    """As pydevd does it: the line break for its mark, and names that are not the probe's."""
    return eval(compile(expression.replace("@LINE@", "\n"), "<string>", "eval"), {})


def test_it_installs_once_and_answers(host: types.ModuleType) -> None:
    assert evaluate(call_expression("threads")) == ""
    before = set(sys.modules)
    assert evaluate(install_expression()) == "installed"
    probe = getattr(host, bootstrap.attribute())
    assert evaluate(install_expression()) == "installed"
    assert getattr(host, bootstrap.attribute()) is probe
    assert json.loads(evaluate(call_expression("threads")))["answer"]["total"] >= 1
    assert set(sys.modules) == before


def test_the_installed_modules_are_not_those_of_the_package(host: types.ModuleType) -> None:
    evaluate(install_expression())
    probe = getattr(host, bootstrap.attribute())
    assert probe is not sys.modules.get(f"{bootstrap.PACKAGE}.calls")
    assert probe.call.__code__.co_filename == "<trio_debugmcp probe>/questions.py"


def test_it_imports_nothing_that_is_not_imported_yet(host: types.ModuleType) -> None:
    evaluate(install_expression())
    find = vars(getattr(host, bootstrap.attribute()))["__builtins__"]["__import__"]
    assert "wave" not in sys.modules
    with pytest.raises(ImportError, match="has not imported wave"):
        find("wave")


def test_without_pydevd_the_call_is_empty() -> None:
    assert evaluate(call_expression("stop")) == ""


def test_parameters_of_any_text_arrive(host: types.ModuleType) -> None:
    evaluate(install_expression())
    text = 'it\'s "quoted" \\ {braces} @LINE@ \n é \U0001f600'
    reply = json.loads(evaluate(call_expression("describe", expression=repr(text), limit=500, thread=None)))
    assert reply["answer"]["value"] == repr(text)


def test_expressions_are_one_line_of_ascii() -> None:
    for expression in (install_expression(), call_expression("variables", path="a\nb", start=3)):
        assert expression.isascii()
        assert "\n" not in expression
        assert "@LINE@" not in expression
    assert len(install_expression()) < 500_000


def test_the_name_depends_on_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    name = bootstrap.attribute()
    bootstrap.attribute.cache_clear()
    monkeypatch.setattr(bootstrap, "_LOADER", "other")
    try:
        assert bootstrap.attribute() != name
    finally:
        bootstrap.attribute.cache_clear()


def test_questions_are_recognised_whatever_version_of_the_probe_they_are_put_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def questions() -> list[object]:
        asked = [
            install_expression(),
            call_expression("stop", thread=1, frames=20, code=False),
            call_expression("stop", thread=1, frames=0),
            call_expression("variables", thread=1, path="a['it's']", start=100),
            bootstrap.evaluate_expression(7, "1 + 1"),
        ]
        return [bootstrap.asked_in(each) for each in asked]

    before = questions()
    assert len(set(before)) == 5
    assert before[0] == ("install", None)
    for cached in (bootstrap.attribute, bootstrap.install_expression):
        cached.cache_clear()
    monkeypatch.setattr(bootstrap, "_LOADER", "other")
    try:
        assert questions() == before
    finally:
        for cached in (bootstrap.attribute, bootstrap.install_expression):
            cached.cache_clear()
    assert bootstrap.asked_in(call_expression("variables", thread=1, path="a", start=1)) != bootstrap.asked_in(
        call_expression("variables", thread=1, path="a", start=2)
    )
    for other in ("1 + 1", "probe.call('stop', '{}')", "(lambda probe: probe.call('stop', '{') if probe else '')(5)"):
        assert bootstrap.asked_in(other) is None
