"""The modules of the program, by their own names."""

import json
import sys
import types
from typing import Any, Dict

from trio_debugmcp.probe.inside import modules, visible_frames
from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.debugger import attached, by_pydevd


def ask(start: int = 0, most: int = 10000, word: str = "", size: int = 10000000) -> Dict[str, Any]:
    return modules.modules_json(start, most, word, Budget(seconds=10, size=size))


def check_the_users_come_first_and_pages_are_the_whole() -> None:
    found = ask()
    names = [each["name"] for each in found["modules"]]
    libraries = [bool(each.get("library")) for each in found["modules"]]
    assert libraries == sorted(libraries)
    assert {"__main__", json.__name__, "sys", __name__} <= {*names}
    assert names.index(__name__) < names.index("json")
    assert found["total"] == len(names)
    paged = [each for start in range(0, len(names), 7) for each in ask(start, 7)["modules"]]
    assert paged == found["modules"]
    assert [each["name"] for each in ask(word="CHECKS.modules")["modules"]] == [__name__]
    assert [each["name"] for each in ask(word="checks/modules.py")["modules"]] == [__name__]


def check_what_is_odd_among_the_modules_does_no_harm() -> None:
    class Odd(types.ModuleType):
        def __getattribute__(self, name: str) -> Any:
            raise AssertionError("was run")

    attached.attach(by_pydevd.ByPydevd())
    odd = Odd("odd one")
    for name, value in (("odd one", odd), ("odd two", 5), ("debugpy.odd", types.ModuleType("odd"))):
        sys.modules[name] = value  # type: ignore[assignment]
    sys.modules[6] = types.ModuleType("odd")  # type: ignore[index]
    try:
        assert [each["name"] for each in ask(word="odd")["modules"]] == ["odd one"]
    finally:
        for key in ("odd one", "odd two", "debugpy.odd", 6):
            del sys.modules[key]  # type: ignore[arg-type]


def check_a_full_answer_ends_and_counts_the_rest() -> None:
    found = ask(size=500)
    assert 0 < len(found["modules"]) < found["total"]


def check_the_names_of_a_process_that_multiprocessing_has_spawned_are_those_that_its_functions_set() -> None:
    names: Dict[str, Any] = {"__name__": "__mp_main__"}
    exec("total = 0\ndef work():\n    global total\n    total = 2", names)
    spawned = types.ModuleType("__mp_main__")
    spawned.__dict__.update(names)  # as multiprocessing does, with what `runpy.run_path` returns
    kept = sys.modules["__main__"]
    assert visible_frames.main_globals() is vars(kept)
    sys.modules["__main__"] = sys.modules["__mp_main__"] = spawned
    try:
        spawned.work()
        assert visible_frames.main_globals()["total"] == 2
    finally:
        sys.modules["__main__"] = kept
        del sys.modules["__mp_main__"]
