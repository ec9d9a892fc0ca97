"""Frames as answers show them, and the names that a user sees in each."""

import sys
import types
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple

from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.debugger.seam import ProgramThread, VisibleFrame
from trio_debugmcp.probe.inside.values import atoms, children, facts
from trio_debugmcp.probe.inside.values.rendering import Renderer, shows_type

MOST_FRAMES = 20000
"""Walked in one answer. Deeper stacks (a recursion that ran wild) are counted up to here."""

MOST_LOCALS = 200
"""Of a frame, unless the question has a number of its own. What is left out is counted."""

_SHORT = 40
"""Characters of a value that is said again; of a longer one it is said that it is the same object."""

Json = Dict[str, Any]


def frame_json(index: int, seen: VisibleFrame, stopped: bool) -> Json:
    """Return a frame for an answer. `id` is that of DAP and exists only while the thread is stopped."""
    found: Json = {"index": index, "file": seen.file, "line": seen.line, "function": seen.name}
    name = qualified_name(seen.frame)
    if name != seen.name:
        found["qualname"] = name
    found["module"] = str(seen.frame.f_globals.get("__name__", ""))
    if seen.library:
        found["library"] = True
    if stopped:
        found["id"] = attached.debugger().frame_id(seen.frame)
    return found


def announced_json(index: int, seen: VisibleFrame, stopped: bool) -> Json:
    """Return a frame of a stop, for which pydevd does what it does when it is asked for the stack."""
    found = frame_json(index, seen, stopped)
    attached.debugger().announce(seen)
    reference = attached.debugger().source_reference(seen)
    if reference:
        found["source"] = reference
    return found


def qualified_name(frame: Any) -> str:
    """Return the name of a frame's function with its class, where it is known."""
    code = frame.f_code
    name = getattr(code, "co_qualname", None)  # 3.11 or newer
    if type(name) is str:
        return name
    if code.co_argcount and code.co_varnames[0] in ("self", "cls"):
        owner = frame.f_locals.get(code.co_varnames[0])
        cls = owner if issubclass(type(owner), type) else type(owner)
        for base in facts.mro(cls):
            method = facts.own(base, code.co_name)
            method = getattr(method, "__func__", method) if type(method) in (classmethod, staticmethod) else method
            if type(method) is types.FunctionType and method.__code__ is code:
                return str(method.__qualname__)
    return str(code.co_name)


def listed(
    thread: ProgramThread, start: int, count: int, budget: Budget, shown: Callable[..., Json] = frame_json
) -> Json:
    """The frames of a thread from `start` on, the number of all, and how many of which packages are `hidden`."""
    found: List[Json] = []
    total = 0
    visible = set()
    for total, seen in enumerate(attached.debugger().frames(thread), 1):
        visible.add(id(seen.frame))
        if start < total <= start + count and not budget.spent():
            frame = shown(total - 1, seen, thread.stopped is not None)
            budget.take_json(frame)
            found.append(frame)
        if total >= MOST_FRAMES:
            break
    answer: Json = {"frames": found, "total": total}
    left_out = hidden(thread, visible)
    if left_out:
        answer["hidden"] = left_out
    return answer


def hidden(thread: ProgramThread, visible: Set[int], passed: Sequence[Any] = ()) -> Dict[str, int]:
    """How many frames of which packages the debugger leaves out of a thread's stack, from the innermost on.

    What starts programs and threads, or imports modules, does not count: all stacks have it. `passed`: frames that an
    exception has left already.
    """
    found: Dict[str, int] = {}
    below = _below_stop(thread)
    known = {id(frame) for frame in below}
    for frame in [*(frame for frame in passed if id(frame) not in known), *below]:
        if id(frame) not in visible and not attached.debugger().owns(frame) and not _is_start(frame):
            package = _package(frame)
            found[package] = found.get(package, 0) + 1
    found.pop("debugpy", None)  # it is `__main__`, so it is not known for one of its own
    return found


def _below_stop(thread: ProgramThread) -> List[Any]:
    """The frames of a thread, innermost first, from the one in which it is stopped.

    Above that one a frame may be returning, and the debugger waits, by means of the standard library. At an exception
    that has left its frames none of those is there any more; then all below the debugger's are.
    """
    frames: List[Any] = []
    frame = thread.top
    while frame is not None and len(frames) < MOST_FRAMES:
        frames.append(frame)
        frame = frame.f_back
    if thread.stopped is None:
        return frames
    stop = attached.debugger().stop_frame(thread)
    owned = [attached.debugger().owns(each) for each in frames]
    for index, each in enumerate(frames):
        if each is stop:
            return frames[index:]
    if stop is None or True not in owned:
        return frames
    first = owned.index(True)
    while first < len(frames) and owned[first]:
        first += 1
    return frames[first:]


def _package(frame: Any) -> str:
    """The name of the package whose code a frame runs; of a package that was started, that of its directory."""
    name = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    folders = frame.f_code.co_filename.split("/")
    return folders[-2] if name == "__main__" and len(folders) > 1 else name


def _is_start(frame: Any) -> bool:
    """Whether a frame starts a program or a thread, imports a module, or runs tests for the server."""
    code = frame.f_code
    if code.co_filename[:7] == "<frozen" or code.co_filename in ("<runner>", "<string>"):
        return True
    if code.co_filename.endswith("/debugpy/server/cli.py"):  # which executes the text of `-c` as `__main__`
        return True
    module = frame.f_globals.get("__name__")
    return module == "runpy" or (module == "threading" and code.co_name in ("_bootstrap", "_bootstrap_inner", "run"))


def at(thread: ProgramThread, index: int) -> Optional[VisibleFrame]:
    """The frame with that index, or None."""
    for number, seen in enumerate(attached.debugger().frames(thread)):
        if number == index:
            return seen
    return None


# --- Names ------------------------------------------------------------------------------------------------------------


def local_names(frame: Any) -> List[Tuple[str, Any]]:
    """The local variables of a frame: in the order of the code, in a module functions and modules last."""
    found = [(name, value) for name, value in list(frame.f_locals.items()) if is_shown(name)]
    if frame.f_locals is frame.f_globals or frame.f_code.co_name == "<module>":
        return facts.namespace_order([each for each in found if each[0][:2] != "__"])
    return found


def global_names(frame: Any) -> List[Tuple[str, Any]]:
    """The global variables of a frame, in the same order as those of a module."""
    found = list(frame.f_globals.items())
    return facts.namespace_order([(name, value) for name, value in found if is_shown(name) and name[:2] != "__"])


def is_shown(name: Any) -> bool:
    """`@py_assert1` is pytest's, `.0` a comprehension's, `__class__` the compiler's, others are the debugger's."""
    if type(name) is not str or name[:1] in ("@", "."):
        return False
    return name not in ("__class__", "__classdict__") and name not in attached.debugger().hidden_names


def variable_json(name: str, value: Any, path: Optional[str], renderer: Renderer) -> Json:
    """Return a variable for an answer: `type` where its text does not show it, `size` where it has children."""
    text = renderer.render(value)
    found: Json = {"name": name, "value": text}
    if renderer.withheld:
        found["withheld"] = True
    if path is not None and path != name:
        found["path"] = path
    if renderer.types or not shows_type(value, text):
        found["type"] = facts.shown_type(type(value))
    size = children.count_of(value)
    if size:
        found["size"] = size
    return found


def variables(pairs: List[Tuple[str, Any]], start: int, count: int, budget: Budget, renderer: Renderer) -> List[Json]:
    """The variables of a scope from `start` on, as many as the budget allows."""
    found: List[Json] = []
    known: Dict[int, str] = {}
    for name, value in pairs[start : start + count]:
        if budget.spent():
            break
        entry = variable_json(name, value, None, renderer)
        note_same(entry, value, known)
        found.append(entry)
        budget.take(40 + len(name))
    return found


def note_same(entry: Json, value: Any, known: Dict[int, str]) -> None:
    """Note in the entry of a variable which one before it is the same object, if that is shown at length.

    `known`: the variables so far by the identity of their objects, which live as long as their frame shows them.
    """
    if len(entry["value"]) <= _SHORT or atoms.of(type(value)) is not None:
        return
    first = known.setdefault(id(value), entry["name"])
    if first != entry["name"]:
        entry["same"] = first


def add_locals(thread: ProgramThread, listed: List[Json], budget: Budget, renderer: Renderer) -> None:
    """Put the local variables into frames that are listed in an answer."""
    wanted = {entry["index"]: entry for entry in listed}
    last = max(wanted, default=-1)
    for index, seen in enumerate(attached.debugger().frames(thread)):
        if index > last or budget.spent():
            break
        if index in wanted:
            put_locals(wanted[index], seen.frame, budget, renderer)


def put_locals(entry: Json, frame: Any, budget: Budget, renderer: Renderer) -> None:
    """Put the local variables of a frame into its entry in an answer, with their number."""
    pairs = local_names(frame)
    entry["locals"] = variables(pairs, 0, MOST_LOCALS, budget, renderer)
    entry["localsTotal"] = len(pairs)


def main_globals() -> Dict[str, Any]:
    """The names of the program's main module, as its functions have them.

    A process that multiprocessing has spawned keeps a copy of them in the module itself (`runpy.run_path`): what its
    functions set is not there.
    """
    names: Dict[str, Any] = vars(sys.modules["__main__"])
    for value in list(names.values()) if "__mp_main__" in sys.modules else ():
        own: Dict[str, Any] = value.__globals__ if type(value) is types.FunctionType else names
        if own is not names and own.get("__name__") == "__mp_main__":
            return own
    return names
