"""A type: its bases, its size, and its members by kind, with the class and the line where each is defined.

    type_json(basket, MemberQuestion(), budget, renderer)
    # {"name": "shop.Basket", "members": [{"name": "put", "kind": "methods", "text": "(product)", "line": 9, …}], …}

Everything is read as it stands in the dictionaries of the classes: no descriptor is triggered, no metaclass asked.
"""

import sys
import time
import types
from typing import Any, Dict, List, Set, Tuple

from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.debugger import seam
from trio_debugmcp.probe.inside.types import definitions
from trio_debugmcp.probe.inside.types.definitions import function_of, own_names
from trio_debugmcp.probe.inside.types.signatures import annotation, annotations_of, of_c, signature
from trio_debugmcp.probe.inside.values import facts, fields
from trio_debugmcp.probe.inside.values.rendering import Renderer
from trio_debugmcp.probe.inside.visible_frames import Json

KINDS = ("fields", "properties", "methods", "classMethods", "staticMethods", "attributes")
"""Of members, in the order in which they are listed."""

_DOC = 200
"""Characters of the first line of a docstring."""

_PYTHONS_OWN = frozenset(
    (
        "__module__ __qualname__ __doc__ __dict__ __weakref__ __slots__ __annotations__ __annotate__ __annotate_func__ "
        "__annotations_cache__ __static_attributes__ __firstlineno__ __orig_bases__ __parameters__ __match_args__ "
        "__dataclass_fields__ __dataclass_params__ __abstractmethods__ _abc_impl __classcell__ __type_params__ "
        "_is_protocol __non_callable_proto_members__ __protocol_attrs__ __classdictcell__ __getnewargs__ _fields "
        "_field_defaults _fields_defaults _field_types _member_names_ _member_map_ _value2member_map_ _member_type_ "
        "_new_member_ _unhashable_values_ _unhashable_values_map_ _value_repr_ _use_args_ __new_member__ "
        "_hashable_values_"
    ).split()
)
"""What Python and its library keep in classes for themselves. It is not listed and not counted."""

_PROPERTIES_OF_C = (types.GetSetDescriptorType,)


class MemberQuestion:
    """Which members: by a part of their names, by kind, those of library classes too or not, and which page."""

    __slots__ = ("filter", "inherited", "kind", "most", "start")

    def __init__(
        self, start: int = 0, most: int = 100, filter_: str = "", kind: str = "", inherited: bool = False
    ) -> None:
        self.start = start
        self.most = most
        self.filter = filter_
        self.kind = kind
        self.inherited = inherited


class _Member:
    """One member of a type.

    Attributes:
        now: the type of what an instance has in this field.
    """

    __slots__ = ("kind", "name", "now", "of", "value")

    def __init__(self, name: str, kind: str, of: type, value: Any, now: str = "") -> None:
        self.name = name
        self.kind = kind
        self.of = of
        self.value = value
        self.now = now


def type_json(value: Any, asked: MemberQuestion, budget: Budget, renderer: Renderer) -> Json:
    """Return the type of a value, or the class that it is, with a page of its members."""
    is_class = issubclass(type(value), type)
    if not is_class and (function_of(value) is not None or definitions.is_method_of_c(value)):
        return _function_json(value, renderer)
    cls = value if is_class else type(value)
    found = _class_json(cls)
    if not is_class:
        found["instance"] = True
    members, left, whole = _members(cls, asked, budget)
    if not is_class:
        members = _with_instance(value, cls, members, asked.filter.lower())
    wanted = [each for each in members if asked.kind in ("", each.kind)]
    wanted.sort(key=lambda each: KINDS.index(each.kind))
    listed: List[Json] = []
    for each in wanted[asked.start : asked.start + asked.most]:
        if budget.spent() and listed:
            break
        entry = _member_json(each, cls, renderer)
        budget.take_json(entry)
        listed.append(entry)
    found.update({"members": listed, "total": len(wanted), "inherited": left})
    if not whole:
        found["ended"] = True
    return found


def _function_json(value: Any, renderer: Renderer) -> Json:
    function = function_of(value)
    if function is None:
        described = facts.class_attribute(type(value), "__qualname__")
        name = str(described.__get__(value)) if type(described) in _PROPERTIES_OF_C else facts.type_name(type(value))
        return {"name": name, "function": True, "signature": of_c(value), "members": [], "total": 0}
    module = function.__module__
    name = f"{module}.{function.__qualname__}" if type(module) is str else str(function.__qualname__)
    shown = signature(function, renderer, bound=type(value) is types.MethodType)
    found: Json = {"name": name, "function": True, "signature": shown, "members": [], "total": 0}
    _put(found, "doc", _first_line(function.__doc__))
    return {**found, **definitions.place_json(function)}


def _class_json(cls: type) -> Json:
    found: Json = {"name": definitions.full_name(cls), **definitions.place_json(cls)}
    bases: Any = type.__dict__["__bases__"].__get__(cls)
    found["bases"] = [definitions.full_name(base) for base in bases if base is not object]
    found["mro"] = [definitions.full_name(each) for each in facts.mro(cls)[1:] if each is not object]
    if type(cls) is not type:
        found["metaclass"] = definitions.full_name(type(cls))
    found["size"] = int(type.__dict__["__basicsize__"].__get__(cls))
    _put(found, "itemSize", int(type.__dict__["__itemsize__"].__get__(cls)))
    _put(found, "doc", _first_line(own_names(cls).get("__doc__")))
    return found


def _put(found: Json, name: str, value: Any) -> None:
    if value:
        found[name] = value


def _first_line(doc: Any) -> str:
    return doc.strip().partition("\n")[0].strip()[:_DOC] if type(doc) is str else ""


# --- Which members ----------------------------------------------------------------------------------------------------


def _members(cls: type, asked: MemberQuestion, budget: Budget) -> Tuple[List[_Member], Dict[str, int], bool]:
    """The members of a class that the filter leaves, how many library bases have besides, and whether that is all.

    It is not where time ended the search.
    """
    found: List[_Member] = []
    left: Dict[str, int] = {}
    seen: Set[str] = set()
    whole, end = True, budget.half()
    word = asked.filter.lower()
    for base in facts.mro(cls):
        names = {name: each for name, each in list(own_names(base).items()) if type(name) is str and name not in seen}
        if base is not cls and not _is_listed(base, asked):
            if base is not object:
                left[facts.type_name(base)] = len(names.keys() - _PYTHONS_OWN)
            seen.update(names)
            continue
        if base is not cls and time.monotonic() > end:
            return found, left, False
        held, all_of_them = fields.fields(names, budget)
        whole = whole and all_of_them
        hidden = seen | _PYTHONS_OWN
        wanted = [(each.name, "fields", each) for each in held] + [
            (name, "", each) for name, each in names.items() if not (name == "__hash__" and each is None)
        ]
        for name, kind, each in wanted:
            if word in name.lower() and name not in hidden:
                hidden.add(name)
                found.append(_Member(name, kind or _kind(each), base, each))
        seen.update(names, (each.name for each in held))
    return found, left, whole


def _is_listed(base: type, asked: MemberQuestion) -> bool:
    """Whether the members of a base are listed: those of builtin types never are, of library classes if asked for."""
    if base is object or (not facts.is_heap_type(base) and facts.module_name(base) == "builtins"):
        return False
    if asked.inherited:
        return True
    module = sys.modules.get(facts.module_name(base))
    file = (facts.instance_dict(module) or {}).get("__file__") if module is not None else None
    return facts.module_name(base) == "__main__" or (type(file) is str and not seam.is_library(file))


def _with_instance(value: Any, cls: type, members: List[_Member], word: str) -> List[_Member]:
    """The members of a class, with what this instance has: its fields, of the types that they are of now."""
    have = {name: facts.shown_type(type(each)) for name, each in facts.fields(value)}
    known = {member.name for member in members}
    for member in members:
        if member.kind == "fields":
            member.now = have.get(member.name, "")
    for name, now in have.items():
        if name not in known and word in name.lower():
            members.append(_Member(name, "fields", cls, fields.Field(name), now))
    return members


def _kind(value: Any) -> str:
    kind = type(value)
    if kind is types.FunctionType:
        return "methods"
    if definitions.is_plain(kind):
        return "attributes"
    if kind is property or _is_cached(value) or kind is types.GetSetDescriptorType:
        return "properties"
    if fields.is_slot(value):
        return "fields"
    if kind is staticmethod:
        return "staticMethods"
    if kind is classmethod or kind is types.ClassMethodDescriptorType:
        return "classMethods"
    if definitions.is_function(value):
        return "methods"
    by_descriptor = facts.class_attribute(kind, "__get__") is not facts.MISSING and facts.is_heap_type(kind)
    return "properties" if by_descriptor else "attributes"


def _is_cached(value: Any) -> bool:
    functools: Any = sys.modules.get("functools")
    return type(value) is getattr(functools, "cached_property", facts.MISSING)


# --- What is shown of a member ----------------------------------------------------------------------------------------


def _member_json(member: _Member, cls: type, renderer: Renderer) -> Json:
    found: Json = {"name": member.name, "kind": member.kind}
    place: Json = {}
    if member.kind == "fields":
        field = member.value
        _put(found, "text", member.now or _field_text(field, renderer))
        place = {"file": field.file, "line": field.line} if field.line else {}
    elif member.kind == "attributes":
        _put(found, "text", _attribute_text(member.of, member.value, renderer))
    else:
        _put(found, "text", _text(member, renderer))
        place = definitions.place_json(_behind(member.value))
    if member.of is not cls:
        found["of"] = facts.type_name(member.of)
    found.update({name: place[name] for name in ("file", "line") if name in place})
    return found


def _field_text(field: fields.Field, renderer: Renderer) -> str:
    text = "" if field.annotation is facts.MISSING else annotation(field.annotation) or ""
    return text if field.default is facts.MISSING else f"{text} = {renderer.render(field.default)}".strip()


def _attribute_text(cls: type, value: Any, renderer: Renderer) -> str:
    if type(value) is cls:
        own = (facts.instance_dict(value) or {}).get("_value_", facts.MISSING)  # a member of an enumeration
        if own is not facts.MISSING:
            return renderer.render(own)
    return renderer.render(value)


def _text(member: _Member, renderer: Renderer) -> str:
    value, kind = member.value, type(member.value)
    if member.kind == "properties":
        return _property_text(value)
    function = function_of(value)
    if function is None:
        return of_c(value)
    if kind is staticmethod:
        return signature(function, renderer)
    abstract = "abstract " if (facts.instance_dict(function) or {}).get("__isabstractmethod__") is True else ""
    return abstract + signature(function, renderer, bound=True)


def _property_text(value: Any) -> str:
    if _is_cached(value):
        return "cached"
    if type(value) is not property:
        return "" if type(value) is types.GetSetDescriptorType else f"by {facts.type_name(type(value))}"
    returned = returned_type(value.fget)
    return ", ".join(each for each in (returned, "settable" if value.fset is not None else "") if each)


def returned_type(function: Any) -> str:
    """Return what a function returns according to its annotation, or an empty text."""
    if type(function) is not types.FunctionType:
        return ""
    annotations = annotations_of(function)
    return annotation(annotations["return"]) or "" if "return" in annotations else ""


def _behind(value: Any) -> Any:
    """What has the place of a member: the getter of a property, the function of a cached one."""
    if type(value) is property:
        return value.fget
    return (facts.instance_dict(value) or {}).get("func", value) if _is_cached(value) else value
