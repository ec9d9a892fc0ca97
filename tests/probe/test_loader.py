"""Loading the modules of the probe, while others load the same ones (probe/loader.py)."""

import ast
import threading
from collections.abc import Callable
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
