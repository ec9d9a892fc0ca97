"""Variables of a stopped frame set to a value: locals, globals, fields and items, where the program sees them.

    here(7, 1, 0, "basket.lines[0]", "'tea'")     # in the frame 0 of the thread 1

Only what is there is set: a name that is misspelled would make a variable that the program never reads.
"""

import _ast
import itertools
import sys
from typing import Any, Callable, Dict

from trio_debugmcp.probe.inside import evaluation, frame_names, visible_frames
from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.frame_names import FrameNames
from trio_debugmcp.probe.inside.syntax import parsed
from trio_debugmcp.probe.inside.values import facts


def here(number: int, thread: int, index: int, target: str, source: str) -> None:
    """Evaluate a value in a frame of this thread, by its index, and assign it to a target there."""
    found = attached.find(thread)
    seen = None if found is None else visible_frames.at(found, index)
    if seen is None:
        evaluation.new(number, 0, source).run(sys._getframe(1).f_globals, own_thread=False, use=_refuse)
    else:
        in_frame(number, seen.frame, target, source)


def _refuse(value: Any) -> None:
    raise LookupError("the frame is not there any more")


def in_frame(
    number: int, frame: Any, target: str, source: str, keep: Callable[[BaseException], bool] = lambda _: False
) -> None:
    """Evaluate a value in a frame, and assign it to a target there; in the thread that is stopped there.

    `keep`: as of `RunningEvaluation.run`.
    """
    names = FrameNames(frame)

    def assign_value(value: Any) -> None:
        assign(target, value, names.together, frame)

    made = evaluation.new(number, 0, source)
    made.run(names.together, own_thread=False, use=assign_value, settle=names.write_back, keep=keep)


def assign(target: str, value: Any, names: Dict[str, Any], frame: Any) -> None:
    """Assign a value to a name, an attribute or an item. `names`: those of the frame, in one dictionary.

    Raises:
        BaseException: it is not there or cannot be set; or what a property or a collection of the program raised.
    """
    node: Any = parsed(target.strip())
    if isinstance(node, _ast.Name):
        _set_name(node.id, value, frame)
    elif isinstance(node, _ast.Attribute):
        _set_attribute(_value(node.value, names), node.attr, value)
    elif isinstance(node, _ast.Subscript) and not isinstance(node.value, _ast.List):
        _value(node.value, names)[_value(_key(node), names)] = value
    elif isinstance(node, _ast.Subscript):
        _set_at_position(node, value, names)
    else:
        raise TypeError("it is computed, and cannot be set")


def _value(node: Any, names: Dict[str, Any]) -> Any:
    code = compile(_ast.Expression(node), "<path>", "eval")
    private = isinstance(node, _ast.Attribute) and node.attr[:2] == "__" and node.attr[-2:] != "__"
    if private:
        holder = _value(node.value, names)
        return getattr(holder, _mangled(holder, node.attr))
    return eval(code, names)


def _key(node: Any) -> Any:
    """The key of an item; before Python 3.9 it has a wrapper."""
    return node.slice.value if type(node.slice).__name__ == "Index" else node.slice


def _set_name(name: str, value: Any, frame: Any) -> None:
    if frame_names.is_local(name, frame):
        frame_names.set_local(frame, name, value)
    elif name in frame.f_globals:
        frame.f_globals[name] = value
    else:
        raise NameError(f"there is no variable '{name}' here, and only what is there is set")


def _set_attribute(holder: Any, name: str, value: Any) -> None:
    name = _mangled(holder, name)
    if facts.class_attribute(type(holder), name) is facts.MISSING and not hasattr(holder, name):
        kind = facts.type_name(type(holder))
        raise AttributeError(f"the {kind} has no attribute '{name}', and only what is there is set")
    setattr(holder, name, value)


def _mangled(holder: Any, name: str) -> str:
    """The name of a private attribute as the class has it."""
    if name[:2] != "__" or name[-2:] == "__" or hasattr(holder, name):
        return name
    for base in facts.mro(type(holder)):
        inner = f"_{facts.type_name(base).lstrip('_')}{name}"
        if hasattr(holder, inner):
            return inner
    return name


def _set_at_position(node: Any, value: Any, names: Dict[str, Any]) -> None:
    """Set the item of a dict whose key has no literal: `[*d.values()][2]`."""
    (starred,) = node.value.elts
    inner = starred.value
    if not (isinstance(inner, _ast.Call) and isinstance(inner.func, _ast.Attribute) and inner.func.attr == "values"):
        raise TypeError("elements of a set have no place that can be set")
    holder = _value(inner.func.value, names)
    key = next(itertools.islice(iter(holder), _value(_key(node), names), None))
    holder[key] = value
