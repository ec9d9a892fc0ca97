"""Values of the program by name, read without running code of the program.

A name is looked up as the interpreter does it: in a frame's variables, its globals, its builtins; attributes in the
dictionaries of modules, classes and plain objects. Where the interpreter would run Python code for it (a property, a
`__getattr__`, a metaclass, a namespace that is not a plain dictionary), the value is `MISSING`.
"""

import sys

MYPY = False
if MYPY:
    from trio_debugmcp.engine.inside.catching.notation import Any, FrameType, Plan

MISSING = object()
"""There is no such value, or it cannot be read without running code."""

lineage: "Any" = type.__dict__["__mro__"].__get__
"""Returns the classes that a class inherits from, itself first."""
_class_dict: "Any" = type.__dict__["__dict__"].__get__
_GetSet = type(type.__dict__["__dict__"])
_Member = type(type(lambda: None).__dict__["__closure__"])
_Module = type(sys)
_Slot = type(object.__init__)
_name_of: "Any" = type.__dict__["__name__"].__get__
_module_of: "Any" = type.__dict__["__module__"].__get__
_Function = type(lambda: None)
_module_dict: "Any" = type.__dict__["__dict__"].__get__(_Module)["__dict__"].__get__

_MOST_WRAPPERS = 5
"""Methods of partial functions of methods: more are judged as code in C."""

_CO_OPTIMIZED = 1

_COPIES = sys.version_info < (3, 13)

_references = sys.getrefcount

_OURS = 3
"""References to a copy that only the frame, the variable here, and the argument of the count have."""


def is_class(value: "Any") -> bool:
    """Return whether a value is a class, whatever its metaclass says."""
    for base in lineage(type(value)):
        if base is type:
            return True
    return False


class NameScope:
    """The names that an expression can use: those of a frame, or of a function that has no frame now."""

    __slots__ = ("_builtins", "_cells", "_frame", "_globals")

    def __init__(self, frame: "FrameType | None", function: "Any" = None) -> None:
        self._frame = frame
        self._cells: dict[str, object] = {}
        if frame is not None:
            self._globals: object = frame.f_globals
            self._builtins: object = frame.f_builtins
            return
        self._globals = function.__globals__
        self._builtins = function.__builtins__
        names = function.__code__.co_freevars
        for name, cell in zip(names, function.__closure__ or ()):
            try:
                self._cells[name] = cell.cell_contents
            except ValueError:
                pass

    def value(self, expression: "Plan | None") -> "Any":
        """Return the value of an expression: of a name, a constant, a tuple, or an attribute or an item of these."""
        if expression is None:
            return MISSING
        kind = expression[0]
        if kind == "global":
            return self._global(expression[1])
        if kind == "attr":
            owner = self.value(expression[1])
            return MISSING if owner is MISSING else attribute(owner, expression[2])
        if kind == "item":
            return item(self.value(expression[1]), self.value(expression[2]))
        if kind == "const":
            return expression[1]
        if kind == "tuple":
            parts = [self.value(part) for part in expression[1]]
            for part in parts:
                if part is MISSING:
                    return MISSING
            return tuple(parts)
        if kind == "call" or kind == "super":
            return MISSING
        found = self._local(expression[1])
        if found is MISSING and kind == "name":
            return self._global(expression[1])
        return found

    def _global(self, name: str) -> "Any":
        if type(self._globals) is not dict or type(self._builtins) is not dict:
            return MISSING
        found = self._globals.get(name, MISSING)
        return self._builtins.get(name, MISSING) if found is MISSING else found

    def _local(self, name: str) -> "Any":
        frame = self._frame
        if frame is None:
            return self._cells.get(name, MISSING)
        optimized = frame.f_code.co_flags & _CO_OPTIMIZED
        if optimized and _COPIES:
            return _copied_local(frame, name)
        names = frame.f_locals
        if not optimized and type(names) is not dict:
            return MISSING
        try:
            return names[name]
        except KeyError:
            return MISSING


def _copied_local(frame: "FrameType", name: str) -> "Any":
    """Read a variable on 3.12, where reading makes a copy of them all that keeps them alive as long as the frame."""
    copy = frame.f_locals
    value = copy.get(name, MISSING)
    if _references(copy) == _OURS:  # the program has no hold of the copy, by `locals()`
        code = frame.f_code
        for variable in (*code.co_varnames, *code.co_cellvars, *code.co_freevars):
            copy.pop(variable, None)
    return value


def in_class(kind: type, name: str) -> "Any":
    """Return what a class and its bases have under a name, as it stands in their dictionaries."""
    for base in lineage(kind):
        found = _class_dict(base).get(name, MISSING)
        if found is not MISSING:
            return found
    return MISSING


def owner_in_class(kind: type, name: str) -> "Any":
    """Return the class, of a class and its bases, whose dictionary has a name."""
    for base in lineage(kind):
        if name in _class_dict(base):
            return base
    return None


def _is_data(value: "Any") -> bool:
    """Return whether a value of a class takes precedence over the value of an instance, and computes what is read."""
    kind = type(value)
    if kind is _Function:
        return False
    return in_class(kind, "__set__") is not MISSING or in_class(kind, "__delete__") is not MISSING


def _computes(value: "Any") -> bool:
    """Return whether reading a value from a class yields something else than itself; functions count as themselves."""
    kind = type(value)
    return kind is not _Function and in_class(kind, "__get__") is not MISSING


def _unwrapped(value: "Any") -> "Any":
    """Return the function of a static method or class method, which is what a call of it runs."""
    if type(value) is staticmethod or type(value) is classmethod:
        return value.__func__
    return value


def attribute(owner: "Any", name: str) -> "Any":
    """Return an attribute; of a method its function."""
    kind = type(owner)
    if is_class(owner):
        return _of_class(owner, kind, name)
    if kind is _Module:
        return _module_dict(owner).get(name, MISSING)
    if not _reads_plainly(kind):
        return MISSING
    found = in_class(kind, name)
    if found is not MISSING and _is_data(found):
        return _slot(found, owner)
    own = _instance_dict(owner, kind)
    if own is not MISSING and name in own:
        return own[name]
    if found is MISSING:
        return MISSING
    found = _unwrapped(found)
    return found if not _computes(found) or _is_c_method(found) else MISSING


def item(owner: "Any", key: "Any") -> "Any":
    """Return an item of a plain collection; a dict with keys of the program's own types is not asked."""
    if type(owner) is dict and type(key) in _PLAIN_KEYS and len(owner) <= _MOST_KEYS:
        plain = all([type(known) in _PLAIN_KEYS for known in owner])
        return owner.get(key, MISSING) if plain else MISSING
    if (type(owner) is list or type(owner) is tuple) and type(key) is int and -len(owner) <= key < len(owner):
        return owner[key]
    return MISSING


_PLAIN_KEYS = frozenset({str, int, bool, float, bytes, type(None)})

_MOST_KEYS = 1000
"""Of a dict that is asked: each is looked at."""

_CUSTOM = frozenset({"super", "method", "_local", "weakproxy", "weakcallableproxy"})
"""Types in C that read attributes in a way of their own."""


def _reads_plainly(kind: type) -> bool:
    """Return whether attributes of objects of a class are read as those of any object."""
    reader = in_class(kind, "__getattribute__")
    if reader is object.__dict__["__getattribute__"] or reader is _class_dict(_Module)["__getattribute__"]:
        return True
    return type(reader) is _Slot and _name_of(owner_in_class(kind, "__getattribute__")) not in _CUSTOM


def _of_class(owner: type, kind: type, name: str) -> "Any":
    reader = in_class(kind, "__getattribute__")
    if reader is not type.__dict__["__getattribute__"]:
        return MISSING
    meta = in_class(kind, name)
    if meta is not MISSING and _is_data(meta):
        return MISSING
    found = _unwrapped(in_class(owner, name))
    if found is MISSING:
        return MISSING if meta is MISSING or _computes(meta) else meta
    return found if not _computes(found) or _is_c_method(found) else MISSING


_C_METHODS = (type(str.join), type(object.__init__), type(dict.fromkeys), type(dict.__dict__["fromkeys"]), type(len))


def _is_c_method(value: "Any") -> bool:
    kind = type(value)
    for one in _C_METHODS:
        if kind is one:
            return True
    return False


def _slot(descriptor: "Any", owner: "Any") -> "Any":
    """Return the value of a slot, which C reads from the object; anything else would run code."""
    if type(descriptor) is not _Member:
        return MISSING
    try:
        return descriptor.__get__(owner)
    except AttributeError:
        return MISSING


def _instance_dict(owner: "Any", kind: type) -> "Any":
    descriptor = in_class(kind, "__dict__")
    if type(descriptor) is not _GetSet and type(descriptor) is not _Member:
        return MISSING
    try:
        own = descriptor.__get__(owner)
    except AttributeError:
        return MISSING
    return own if type(own) is dict else MISSING


_Method: "Any" = type(NameScope.value.__get__(MISSING))


def unwrapped(value: "Any") -> "Any":
    """Return what a bound method or a `functools.partial` calls: both pass on what it raises."""
    for _ in range(_MOST_WRAPPERS):
        kind = type(value)
        if kind is _Method:
            value = value.__func__
        elif _name_of(kind) == "partial" and _module_of(kind) == "functools":
            member = in_class(kind, "func")
            if type(member) is not _Member:
                break
            value = member.__get__(value)
        else:
            break
    return value
