"""Loading the modules of the probe, while others load the same ones (probe/loader.py)."""

import ast
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from trio_debugmcp.probe import loader, packing

MAIN, PART = f"{packing.PACKAGE}.questions", f"{packing.PACKAGE}.part"

SOURCES = {
    MAIN: f"def value():\n    from {packing.PACKAGE} import part\n    return part.value\n",
    PART: "meanwhile()\nvalue = object()\n",
}


def in_a_thread(call: Callable[[], object]) -> object:
    found: list[object] = []
    thread = threading.Thread(target=lambda: found.append(call()))
    thread.start()
    thread.join()
    (value,) = found
    return value


@pytest.mark.parametrize("run", [lambda call: call(), in_a_thread], ids=["a finalizer", "a thread that waits in vain"])
def test_a_module_is_complete_for_who_gets_it_while_another_loads_it(
    run: Callable[[Callable[[], object]], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loader, "_LOCK_SECONDS", 0.01)
    kept = loader.Kept()
    seen: list[Any] = []

    def meanwhile() -> None:
        kept.builtins["meanwhile"] = questions_builtins["meanwhile"] = lambda: None
        seen.append(run(questions.value))

    kept.builtins["meanwhile"] = meanwhile
    questions = loader.load(SOURCES, kept)
    questions_builtins = vars(questions)["__builtins__"]
    value = questions.value()
    assert seen == [value] == [questions.value()]


def test_what_was_kept_is_kept_if_another_asks_for_it_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """At each line of the copying another caller asks for the same module, as after a switch of threads."""
    for line in range(20):
        kept, real, lines = loader.Kept(), time.monotonic, 0

        def trace(frame: FrameType, event: str, argument: object, kept: loader.Kept = kept, line: int = line) -> Any:
            nonlocal lines
            if frame.f_code is not loader.Kept.module.__code__:
                return None
            if event == "line":
                lines += 1
                if lines == line:
                    sys.settrace(None)
                    kept.module("time")
            return trace

        with monkeypatch.context() as patched:
            patched.setattr(time, "monotonic", lambda: 42.0)
            before = sys.gettrace()
            sys.settrace(trace)
            try:
                copy = kept.module("time")
            finally:
                sys.settrace(before)
            assert copy.monotonic is real, line


def test_no_module_needs_one_that_needs_it() -> None:
    """A module is not handed out before it is complete, so such two could not be loaded."""
    sources = packing.sources()
    needs = {
        name: {
            needed
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.ImportFrom) and node.module is not None
            for needed in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
            if needed in sources
        }
        for name, source in sources.items()
    }
    while needs:
        free = {name for name, needed in needs.items() if not needed & needs.keys()}
        assert free, sorted(needs)
        needs = {name: needed for name, needed in needs.items() if name not in free}
