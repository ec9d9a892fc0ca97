"""Types and functions by a pattern, where they are defined."""

import collections
import functools
import queue
import sys
import types
from decimal import Decimal
from typing import Any, Dict, List

from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.types import definitions, module_symbols
from trio_debugmcp.probe.inside.types.module_symbols import SymbolQuestion
from trio_debugmcp.probe.inside.values.rendering import Renderer

IMPORTED = (queue.Queue, Decimal)


class Unmistakable:
    def method_of_it(self, x: int) -> None: ...

    class Inner:
        def deep(self) -> None: ...

    @property
    def not_a_function(self) -> int:
        raise AssertionError("was run")


Alias = Unmistakable


def unmistakable_function(a: Any, *, b: int = 2) -> None: ...


@functools.lru_cache(maxsize=None)
def unmistakable_decorated(a: int) -> None: ...


unmistakable_partial = functools.partial(unmistakable_function, 1)


def find(pattern: str, size: int = 1000000, seconds: float = 20.0, **asked: Any) -> Dict[str, Any]:
    budget = Budget(seconds, size)
    return module_symbols.symbols_json(SymbolQuestion(pattern, **asked), budget, Renderer(budget, 40, code=False))


def names(pattern: str, **asked: Any) -> List[str]:
    return [each["name"].replace(__name__ + ".", "") for each in find(pattern, **asked)["symbols"]]


def check_patterns_are_of_names_with_or_without_what_is_before_them() -> None:
    assert names("unmistakable") == ["Unmistakable", "unmistakable_function", "unmistakable_decorated"]
    assert names("UNMIS*") == names("unmistakable"), "and of what is inside of them nothing"
    assert names("Unmistakable") == names("unmistakable")
    assert names("unmistakable.*") == ["Unmistakable.method_of_it", "Unmistakable.Inner", "Unmistakable.Inner.deep"]
    assert names("Unmistakable.Inner.d??p") == names("unmistakable.inner.deep") == ["Unmistakable.Inner.deep"]
    assert names("method_of_i?") == names("*symbols.Unmistakable.method_of_it") == ["Unmistakable.method_of_it"]
    assert names("method_of_i") == ["Unmistakable.method_of_it"]
    assert names("method_of_?") == []
    assert names("nothing is called so") == []
    assert names("unmistakable(") == []


def check_kinds_and_modules() -> None:
    assert names("unmistakable", kind="types") == ["Unmistakable"]
    assert names("unmistakable", kind="functions") == ["unmistakable_function", "unmistakable_decorated"]
    assert names("unmistakable", module="Checks.SYMB", kind="types") == ["Unmistakable"]
    assert names("unmistakable", module="queue") == []
    assert "queue.Queue" in names("Queue", kind="types", module="queue"), "where it is defined"
    assert not [each for each in names("Queue") if each == "Queue"], "not where it is imported"


def check_signatures_and_places() -> None:
    plain, decorated = find("unmistakable", kind="functions")["symbols"]
    signature = "(a: Any, *, b: int = 2) -> None" if sys.version_info < (3, 14) else "(a, *, b=2)"
    assert plain["signature"] == signature
    assert plain["file"] == decorated["file"] == __file__
    assert decorated["line"] > plain["line"] == unmistakable_function.__code__.co_firstlineno
    (method,) = find("method_of_it")["symbols"]
    assert method["signature"].startswith("(x")
    (cls,) = find("unmistakable", kind="types")["symbols"]
    assert (cls["file"], cls["type"]) == (__file__, True)
    assert "library" not in cls
    (found,) = find("move_to_end", module="collections")["symbols"]
    assert (found["signature"], found["library"]) == ("(key, last=True)", True)


def check_the_users_come_first_and_pages_are_the_whole() -> None:
    whole = find("*e*", most=10000)
    libraries = [bool(each.get("library")) for each in whole["symbols"]]
    assert libraries == sorted(libraries)
    assert True in libraries
    assert False in libraries
    assert whole["total"] == len(whole["symbols"]) > 1000
    pages = [find("*e*", start=start, most=700) for start in range(0, whole["total"], 700)]
    assert [each for page in pages for each in page["symbols"]] == whole["symbols"]
    assert len({id(each.value) for each in definitions.everything(Budget(20)) if each.is_type}) > 100
    small = find("*e*", size=500)
    assert 0 < len(small["symbols"]) < small["total"] == whole["total"]


def check_without_time_the_modules_that_were_searched_are_counted() -> None:
    found = find("*", seconds=0.0)
    assert found["searched"] < found["modules"]
    assert "searched" not in find("*")


def check_what_is_odd_in_a_module_does_no_harm() -> None:
    def fail(*args: Any) -> Any:
        raise AssertionError("was run")

    class Meta(type):
        __eq__ = __getattr__ = __instancecheck__ = __dir__ = __repr__ = fail
        __hash__ = fail

    class Value:
        __getattr__ = __eq__ = __repr__ = fail
        __class__ = property(fail)

    odd = types.ModuleType("odd_module")
    made = Meta("Made", (), {"itself": None, "run": fail, "__module__": "odd_module"})
    type.__setattr__(made, "itself", made)
    vars(odd).update(Made=made, value=Value(), __getattr__=fail, nested=collections.OrderedDict(a=made))
    vars(odd)[5] = 6  # type: ignore[index]
    sys.modules["odd_module"] = odd
    try:
        assert names("*", module="odd_module") == ["odd_module.Made", "odd_module.Made.run"]
    finally:
        del sys.modules["odd_module"]
