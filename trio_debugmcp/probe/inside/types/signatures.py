"""Signatures and annotations as text, read from code objects: no `__signature__`, no `__repr__` of the program.

    signature(visit, renderer)      # (basket, product: str, count: int = 1) -> float

What only code of the program could tell (the `repr` of a default, an annotation since Python 3.14) is left out.
"""

import sys
import types
from typing import Any, Dict, List, Optional, Tuple

from trio_debugmcp.probe.inside.values import facts
from trio_debugmcp.probe.inside.values.rendering import Renderer

_VARIADIC, _KEYWORDS = 4, 8
_ASYNC = 0x80 | 0x200
"""Flags of a code object: `*args`, `**kwargs`, and what `async def` makes."""

MOST_TEXT = 300
"""Characters of a signature; longer ones are cut."""

_DEEPEST = 4
"""Types within types."""

_DEFAULTS: Any = types.FunctionType.__dict__["__defaults__"]
_KEYWORD_DEFAULTS: Any = types.FunctionType.__dict__["__kwdefaults__"]
_ANNOTATIONS: Any = types.FunctionType.__dict__["__annotations__"]  # noqa: RUF063 (what it says is of no use in the program)


def signature(function: types.FunctionType, renderer: Renderer, bound: bool = False) -> str:
    """Return a signature; `bound`: without the first parameter, which the call does not pass."""
    code = function.__code__
    annotations = annotations_of(function)
    parts = _positional(function, annotations, renderer, bound)
    names = code.co_varnames
    count = code.co_argcount
    rest = count + code.co_kwonlyargcount
    if code.co_flags & _VARIADIC:
        parts.append("*" + _named(names[rest], annotations))
    elif code.co_kwonlyargcount:
        parts.append("*")
    keyword_defaults = _KEYWORD_DEFAULTS.__get__(function)
    defaults = keyword_defaults if type(keyword_defaults) is dict else {}
    parts += [_parameter(name, annotations, defaults.get(name, facts.MISSING), renderer) for name in names[count:rest]]
    if code.co_flags & _KEYWORDS:
        parts.append("**" + _named(names[rest + bool(code.co_flags & _VARIADIC)], annotations))
    returned = annotation(annotations["return"]) if "return" in annotations else None
    text = f"({', '.join(parts)})" + (f" -> {returned}" if returned else "")
    return ("async " if code.co_flags & _ASYNC else "") + text[:MOST_TEXT] + ("…" if len(text) > MOST_TEXT else "")


def _positional(function: Any, annotations: Dict[str, Any], renderer: Renderer, bound: bool) -> List[str]:
    code = function.__code__
    count = code.co_argcount
    found = _DEFAULTS.__get__(function)
    defaults: Tuple[Any, ...] = found if type(found) is tuple else ()
    first = 1 if bound and count else 0
    parts = []
    for index in range(first, count):
        place = index - (count - len(defaults))
        default = defaults[place] if 0 <= place < len(defaults) else facts.MISSING
        parts.append(_parameter(code.co_varnames[index], annotations, default, renderer))
        if index + 1 == code.co_posonlyargcount:
            parts.append("/")
    return parts


def _parameter(name: str, annotations: Dict[str, Any], default: Any, renderer: Renderer) -> str:
    text = _named(name, annotations)
    if default is facts.MISSING:
        return text
    generated = facts.type_name(type(default)) == "_HAS_DEFAULT_FACTORY_CLASS"  # of a dataclass
    shown = "<factory>" if generated else renderer.render(default)
    return f"{text}{' = ' if ':' in text else '='}{shown}"


def _named(name: str, annotations: Dict[str, Any]) -> str:
    shown = annotation(annotations[name]) if name in annotations else None
    return f"{name}: {shown}" if shown else name


def annotations_of(function: Any) -> Dict[str, Any]:
    """The annotations of a function, as far as they are known: since 3.14 code of the program makes them."""
    if sys.version_info >= (3, 14):
        return {}
    found = _ANNOTATIONS.__get__(function)
    if type(found) is not dict or any(type(name) is not str for name in found):
        return {}
    return found


def of_c(value: Any) -> str:
    """Return the signature that a function of C tells, without the parameter that stands for the object."""
    described = facts.class_attribute(type(value), "__text_signature__")
    if type(described) not in (types.GetSetDescriptorType, types.MemberDescriptorType):
        return ""
    try:
        found = described.__get__(value)
    except Exception:
        return ""
    if type(found) is not str:
        return ""
    return _without_own(found)[:MOST_TEXT]


def _without_own(text: str) -> str:
    """Return a signature without the parameter that stands for the object, the class or the module: `($self, /, a)`."""
    if not text.startswith("($"):
        return text
    rest = text[2:]
    while rest[:1].isalnum() or rest[:1] == "_":
        rest = rest[1:]
    for separator in (", /", ", "):
        rest = rest[len(separator) :] if rest.startswith(separator) else rest
    return "(" + rest


# --- Annotations ------------------------------------------------------------------------------------------------------


def annotation(value: Any, depth: int = 0) -> Optional[str]:
    """Return a type as it is written in an annotation, or None where only its own code could say."""
    cls = type(value)
    if cls is str:
        return str(value)
    if value is None or value is type(None):
        return "None"
    if value is Ellipsis:
        return "..."
    origin, arguments = _generic(value)
    if origin is None and issubclass(cls, type):
        return facts.type_name(value)
    if origin is None:
        return _name_of(value)
    if depth >= _DEEPEST:
        return "..."
    inner = [annotation(argument, depth + 1) for argument in arguments[:20]]
    if any(each is None for each in inner):
        return None
    if origin == "Callable" and inner and arguments[0] is not Ellipsis:
        return f"Callable[[{', '.join(str(each) for each in inner[:-1])}], {inner[-1]}]"
    if origin in ("Union", "Optional", "|"):
        return " | ".join(str(each) for each in inner)
    return f"{origin}[{', '.join(str(each) for each in inner)}]"


def _generic(value: Any) -> Tuple[Optional[str], Tuple[Any, ...]]:
    """The name and the arguments of `list[int]`, `int | None`, `typing.Optional[int]`."""
    cls = type(value)
    if cls is getattr(types, "UnionType", facts.MISSING):  # 3.10 or newer
        return "|", value.__args__
    if cls is getattr(types, "GenericAlias", facts.MISSING):  # 3.9 or newer
        origin = value.__origin__
        return (facts.type_name(origin) if issubclass(type(origin), type) else None), value.__args__
    if facts.module_name(cls) != "typing" or issubclass(cls, type):
        return None, ()
    names = facts.instance_dict(value) or {}
    arguments, origin = names.get("__args__"), names.get("__origin__")
    if type(arguments) is not tuple or origin is None:
        return None, ()
    name = names.get("_name")
    if type(name) is str:
        return name, arguments
    return (facts.type_name(origin) if issubclass(type(origin), type) else _name_of(origin)), arguments


def _name_of(value: Any) -> Optional[str]:
    """The name of a type variable or a special form of `typing`."""
    if facts.module_name(type(value)) != "typing":
        return None
    for each in ("_name", "__name__"):
        found = facts.attribute(value, each)
        if type(found) is str:
            return found
    return None
