"""The fields of a class: what it announces in annotations and slots, and what its methods assign to their object.

    fields(Basket, budget)      # [Field("owner", annotation=<class 'str'>, default=MISSING, "shop.py", 5), …]

Instructions are read for that: nothing of the class runs.
"""

import dis
import time
import types
from typing import Any, Dict, Iterator, List, Optional, Tuple

from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.values import facts

_STORE = dis.opmap["STORE_ATTR"]


class Field:
    """A field, with where it is assigned first, if a method does that."""

    __slots__ = ("annotation", "default", "file", "line", "name")

    def __init__(
        self, name: str, annotation: Any = facts.MISSING, default: Any = facts.MISSING, file: str = "", line: int = 0
    ) -> None:
        self.name = name
        self.annotation = annotation
        self.default = default
        self.file = file
        self.line = line


def fields(names: Dict[str, Any], budget: Budget) -> Tuple[List[Field], bool]:
    """Return the fields of a class by the names that are in it, and whether all of its methods were looked at."""
    assigned, whole = _all_assigned(names, budget)
    annotations = names.get("__annotations__")
    found: Dict[str, Field] = {}
    for name, each in list(annotations.items()) if type(annotations) is dict else ():
        if type(name) is str:
            default = names.get(name, facts.MISSING)
            found[name] = Field(name, each, facts.MISSING if is_slot(default) else default)
    for name, each in names.items():
        if is_slot(each) and name not in found:
            found[name] = Field(name)
    for name, (file, line) in assigned.items():
        if name in found or name not in names:
            field = found.setdefault(name, Field(name))
            field.file, field.line = file, line
    return list(found.values()), whole


def is_slot(value: Any) -> bool:
    """Whether this is what a class has in the place of a field of fixed place."""
    return type(value) is types.MemberDescriptorType


def _all_assigned(names: Dict[str, Any], budget: Budget) -> Tuple[Dict[str, Tuple[str, int]], bool]:
    found: Dict[str, Tuple[str, int]] = {}
    end = budget.half()
    for function in list(names.values()):
        if type(function) is types.FunctionType and not function.__code__.co_filename.startswith("<"):
            if time.monotonic() > end:
                return found, False
            for name, line in _assigned(function.__code__):
                found.setdefault(name, (function.__code__.co_filename, line))
    return found, True


def _assigned(code: types.CodeType) -> Iterator[Tuple[str, int]]:
    """Yield what a method assigns to its object, with the lines."""
    if not code.co_argcount or _STORE not in code.co_code[::2]:
        return
    own, line = code.co_varnames[0], code.co_firstlineno
    before: Optional[Any] = None
    for instruction in dis.get_instructions(code):
        starts = getattr(
            instruction, "line_number", instruction.starts_line
        )  # the former since 3.13, where the latter is a flag
        line = starts if starts is not None else line
        if instruction.opname == "STORE_ATTR" and before is not None and _loads(before, own):
            yield str(instruction.argval), line
        before = instruction


def _loads(instruction: Any, name: str) -> bool:
    """Whether an instruction loads a variable, last of all: one of 3.13 may load two."""
    if "LOAD_FAST" not in instruction.opname and instruction.opname != "LOAD_DEREF":
        return False
    loaded = instruction.argval
    return bool((loaded[-1] if type(loaded) is tuple else loaded) == name)
