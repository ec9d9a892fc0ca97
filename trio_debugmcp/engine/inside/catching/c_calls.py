"""What the code between two Python frames does with an exception: most passes it on, some catches it.

The instruction at which the outer frame waits has called the inner frame: directly, or by way of C code (an iteration,
an attribute, a built-in function). Which of the two it was is seen by what the instruction calls.
"""

from trio_debugmcp.engine.inside.catching import readings
from trio_debugmcp.engine.inside.catching.disassembly import UnreadableCodeError
from trio_debugmcp.engine.inside.catching.managers import in_c
from trio_debugmcp.engine.inside.catching.namespaces import MISSING, NameScope, in_class, is_class, lineage, unwrapped
from trio_debugmcp.engine.inside.catching.operands import call
from trio_debugmcp.engine.inside.catching.thrown_exception import ThrownException

MYPY = False
if MYPY:
    from trio_debugmcp.engine.inside.catching.notation import (
        Any,
        AsyncIterator,
        CodeType,
        Expression,
        FrameType,
        Iterator,
    )

PASSES = 0
CATCHES = 1
UNCLEAR = 2

_GENERATORS = 0x20 | 0x80 | 0x100 | 0x200
"""Flags of code that is run by iteration or by `await`."""

(_ASYNC_GENERATOR, _COROUTINES) = (0x200, 0x80 | 0x100)

_CALLS = frozenset({"CALL", "CALL_KW", "CALL_FUNCTION_EX"})

_ATTRIBUTES = {"LOAD_ATTR": 1, "STORE_ATTR": 0, "DELETE_ATTR": 0, "LOAD_SUPER_ATTR": 2, "IMPORT_FROM": 0}
"""Instructions, and by how many bits of its argument the number of the name is shifted."""

_CONSUMERS = frozenset(
    "FOR_ITER UNPACK_SEQUENCE UNPACK_EX LIST_EXTEND SET_UPDATE CONTAINS_OP CALL_FUNCTION_EX CALL_INTRINSIC_1".split()
)
"""Instructions that iterate to the end, which StopIteration is, and IndexError of a `__getitem__`."""

_NAMESPACES = frozenset({"LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS", "LOAD_FROM_DICT_OR_DEREF"})

_FINALIZING = frozenset(
    "STORE_FAST STORE_DEREF STORE_FAST_LOAD_FAST STORE_FAST_STORE_FAST DELETE_FAST DELETE_DEREF POP_TOP"
    " POP_EXCEPT SWAP END_FOR END_SEND RETURN_VALUE RETURN_CONST POP_ITER".split()
)
"""Instructions that run code only by dropping the last reference to an object: what that raises is not passed on."""

_OPERATORS = frozenset(
    "BINARY_SUBSCR BINARY_OP BINARY_SLICE STORE_SUBSCR STORE_SLICE DELETE_SUBSCR COMPARE_OP UNARY_NEGATIVE"
    " UNARY_NOT UNARY_INVERT TO_BOOL POP_JUMP_IF_TRUE POP_JUMP_IF_FALSE GET_ITER GET_YIELD_FROM_ITER"
    " BEFORE_WITH BEFORE_ASYNC_WITH LOAD_SPECIAL WITH_EXCEPT_START SEND YIELD_VALUE GET_AWAITABLE GET_AITER"
    " GET_ANEXT FORMAT_VALUE FORMAT_SIMPLE FORMAT_WITH_SPEC CONVERT_VALUE BUILD_STRING RAISE_VARARGS"
    " CHECK_EG_MATCH FOR_ITER CONTAINS_OP BUILD_MAP BUILD_SET BUILD_CONST_KEY_MAP MAP_ADD SET_ADD LIST_EXTEND"
    " SET_UPDATE UNPACK_SEQUENCE UNPACK_EX IMPORT_NAME".split()
)
"""Instructions that call a special method and pass on what it raises, but the end of an iteration."""

_CONSTRUCTING = frozenset({"__init__", "__new__", "__call__", "__init_subclass__", "__set_name__", "__prepare__"})

_HARMLESS = frozenset(
    "sorted max min map filter exec eval __build_class__ sum print isinstance issubclass callable __import__"
    " all any zip enumerate reversed iter abs round divmod pow format repr str len hash ascii compile setattr"
    " delattr run reduce sort sub subn append extend insert join update call_tracing".split()
)
"""Functions in C that pass on what the functions they call raise, but the end of an iteration."""

_name_of = type.__dict__["__name__"].__get__
_module_of = type.__dict__["__module__"].__get__

_CALLING = frozenset("sorted max min exec eval __build_class__ run reduce sort sub subn call_tracing".split())
"""Of these, the functions that call what they are given."""

_Function: "Any" = type(lambda: None)
_Builtin: "Any" = type(len)
_GENERATOR_METHODS = frozenset({"send", "throw", "__next__"})


def _generator() -> "Iterator[None]":
    yield


async def _asynchronous() -> "AsyncIterator[None]":
    yield


async def _coroutine() -> None:
    pass


_coroutine_object = _coroutine()
_coroutine_object.close()
_GENERATOR_TYPES: "tuple[Any, ...]" = (type(_generator()), type(_coroutine_object), type(_asynchronous()))

_MethodDescriptor = type(str.join)
_Wrapper = type(object.__init__)


def between(inner: "FrameType", outer: "FrameType", thrown: ThrownException) -> tuple[int, str]:
    """Return PASSES, CATCHES or UNCLEAR, and what catches it or is unclear."""
    (name, called) = _link(outer.f_code, outer.f_lasti)
    if called is None:
        return _instruction(name, None, inner, thrown)
    if name in _ATTRIBUTES:
        return _instruction(name, called[1], inner, thrown)
    return _call(inner, outer, thrown, called)


def instruction(frame: "FrameType", offset: int) -> str:
    """Return the name of the instruction at an offset of a frame's code."""
    return _link(frame.f_code, offset)[0]


def _link(code: "CodeType", offset: int) -> "tuple[str, Expression | None]":
    reading = readings.of(code)
    link = reading.links.get(offset)
    if link is None:
        link = reading.links[offset] = _read(reading, offset)
    return link


def _read(reading: "readings.CodeReading", offset: int) -> "tuple[str, Expression | None]":
    """Return the name of the instruction, and of a call its description; of an attribute ("const", its name)."""
    try:
        code = reading.disassembly()
        index = code.index(offset)
        name = code.names[index]
        if name == "RESUME" and code.args[index] & 3 > 1:
            name = "SEND"  # while something is thrown into what is awaited, from 3.13 on
        if name in _ATTRIBUTES:
            return (name, ("const", code.code.co_names[code.args[index] >> _ATTRIBUTES[name]]))
        return (name, call(code, index) if name in _CALLS else None)
    except (UnreadableCodeError, IndexError, KeyError):
        return ("", None)


def _instruction(name: str, asked: str | None, inner: "FrameType", thrown: ThrownException) -> tuple[int, str]:
    """Judge an instruction that is not a call; `asked` is the name of the attribute that it is about."""
    code = inner.f_code
    special = code.co_name.startswith("__") and code.co_name.endswith("__")
    if code.co_name == "__del__" or name in _FINALIZING:
        return (CATCHES, "a finalizer")
    if thrown.is_a(GeneratorExit) and _waits_at_yield(inner):
        if name == "SEND" and code.co_flags & _ASYNC_GENERATOR:
            return (UNCLEAR, "a generator may be closed by it")  # `await generator.athrow()`, or `aclose()`
        return (CATCHES, "the end of a generator")
    if name in _ATTRIBUTES:
        return _attribute(name, asked, inner, thrown)
    if thrown.is_a(StopIteration) and (name in _CONSUMERS or name == "SEND"):
        return (PASSES if code.co_name in ("__contains__", "__iter__") else CATCHES, "the end of an iteration")
    if thrown.is_a(IndexError) and code.co_name == "__getitem__" and name in _CONSUMERS:
        return (CATCHES, "the end of an iteration")
    if thrown.is_a(IndexError) and code.co_name == "__getitem__" and name not in ("BINARY_SUBSCR", "BINARY_SLICE"):
        return (UNCLEAR, "C code may end an iteration by it")
    if name in _NAMESPACES and thrown.is_a(KeyError):
        return (CATCHES, "a namespace")
    if name not in _OPERATORS:
        return (UNCLEAR, "C code may catch it")
    ending = thrown.is_a(StopIteration) or (thrown.is_a(StopAsyncIteration) and name == "SEND")
    if thrown.is_a(GeneratorExit) or ending:
        return (UNCLEAR, "C code may end an iteration by it")
    if name == "IMPORT_NAME" and code.co_name == "__getattr__" and thrown.is_a(AttributeError):
        return (CATCHES, "`import`")
    if code.co_flags & _GENERATORS or (name == "IMPORT_NAME" and code.co_filename.startswith("<frozen importlib")):
        return (PASSES, "")
    if special and code.co_name not in ("__length_hint__", "__getattr__", "__getattribute__", "__get__"):
        return (
            (UNCLEAR, "C code may catch it") if thrown.is_a(TypeError) and code.co_name == "__len__" else (PASSES, "")
        )
    return (UNCLEAR, "C code may catch it") if _may_be_signal(thrown) else (PASSES, "")


def _waits_at_yield(frame: "FrameType") -> bool:
    """Return whether a generator is where it has last yielded: what it raises there was thrown into it."""
    if not frame.f_code.co_flags & _GENERATORS:
        return False
    try:
        code = readings.of(frame.f_code).disassembly()
        return code.names[code.index(frame.f_lasti)] in ("YIELD_VALUE", "RESUME", "RETURN_GENERATOR")
    except (UnreadableCodeError, IndexError):
        return False


def _may_be_signal(thrown: ThrownException) -> bool:
    """Return whether C code asks by this exception whether there is an attribute, an item or a next value."""
    return thrown.is_a(AttributeError) or thrown.is_a(StopIteration) or thrown.is_a(StopAsyncIteration)


def _attribute(name: str, asked: "Any", inner: "FrameType", thrown: ThrownException) -> tuple[int, str]:
    if not thrown.is_a(AttributeError):
        return (PASSES, "")
    if name == "IMPORT_FROM":
        return (CATCHES, "`from … import`")
    if inner.f_code.co_name == "__getattr__":
        same = name[:4] == "LOAD" and _asks_for(inner, asked)
        return (PASSES, "") if same else (UNCLEAR, "C code may look for another attribute")
    if name in ("STORE_ATTR", "DELETE_ATTR"):
        return (PASSES, "")
    return (UNCLEAR, "a `__getattr__` may answer instead") if _has_getattr(inner) else (PASSES, "")


def _asks_for(inner: "FrameType", name: "Any") -> bool:
    """Return whether a `__getattr__`, of an object or of a module, was called for the attribute of that name.

    Special names are never sure: C code asks one object for those of another.
    """
    code = inner.f_code
    if not code.co_argcount or type(name) is not str or name[:2] == "__":
        return False
    asked = NameScope(inner).value(("fast", code.co_varnames[code.co_argcount - 1]))
    return type(asked) is str and asked == name


def _has_getattr(inner: "FrameType") -> bool:
    """Return whether the object whose attribute a function reads may have a `__getattr__`."""
    code = inner.f_code
    if not code.co_argcount or code.co_name in ("__get__", "__getattribute__"):
        return True
    owner = NameScope(inner).value(("fast", code.co_varnames[0]))
    return owner is MISSING or in_class(type(owner), "__getattr__") is not MISSING


def _call(inner: "FrameType", outer: "FrameType", thrown: ThrownException, called: "Expression") -> tuple[int, str]:
    code = inner.f_code
    target = called[1]
    value = unwrapped(NameScope(outer).value(target))
    if code.co_flags & _COROUTINES and _is_task(value):
        return (CATCHES, "a task")  # which begins to run its coroutine at once, and keeps what that raises
    if _is_direct(value, code) or (value is MISSING and target is not None and target[-1] == code.co_name):
        return (PASSES, "")
    if code.co_name == "__del__":
        return (CATCHES, "a finalizer")
    asked = target[-1] if target is not None else None
    if thrown.is_a(GeneratorExit) and _waits_at_yield(inner):
        thrown_in = asked is None or asked == "throw" or asked == "athrow"
        return (UNCLEAR, "a generator may be closed by it") if thrown_in else (CATCHES, "the end of a generator")
    if asked in _GENERATOR_METHODS and target is not None and target[0] == "attr":
        owner = NameScope(outer).value(target[1])
        if type(owner) in _GENERATOR_TYPES and not thrown.is_a(GeneratorExit):
            return (PASSES, "") if _frame_of(owner) is inner else (UNCLEAR, "the generator may catch it")
    name = _builtin_name(value)
    known = _builtin(name, called, inner, outer, thrown) if name is not None else None
    if known is not None:
        return known
    if is_class(value) and code.co_name in _CONSTRUCTING:
        return (PASSES, "")
    return _through_c(value, inner, thrown)


def _is_task(value: "Any") -> bool:
    """Return whether a value is the class of asyncio's tasks, or one of its subclasses."""
    return is_class(value) and any([_module_of(base) == "_asyncio" for base in lineage(value)])


def _frame_of(owner: "Any") -> "FrameType | None":
    """Return the frame of a generator, a coroutine or an asynchronous generator."""
    name = {0: "gi_frame", 1: "cr_frame", 2: "ag_frame"}[_GENERATOR_TYPES.index(type(owner))]
    frame: FrameType | None = object.__getattribute__(owner, name)
    return frame


def _through_c(value: "Any", inner: "FrameType", thrown: ThrownException) -> tuple[int, str]:
    """Judge a call that goes through code that is not known to call the inner frame."""
    code = inner.f_code
    unclear = (UNCLEAR, "C code may catch it")
    special = code.co_name.startswith("__") and code.co_name.endswith("__")
    if _may_be_signal(thrown) and (special or thrown.is_a(StopIteration) or not _calls_what_it_is_given(value)):
        return unclear
    if value is MISSING:
        return unclear if special else (PASSES, "")
    if type(value) is _Function or (is_class(value) and not in_c(value)):
        return unclear if special else (PASSES, "")
    if _is_harmless(value):
        return unclear if special and code.co_name in ("__getitem__", "__length_hint__", "__len__") else (PASSES, "")
    return unclear


def _calls_what_it_is_given(value: "Any") -> bool:
    """Return whether a function in C calls its arguments, rather than looking for attributes and items of them."""
    kind = type(value)
    return (kind is _Builtin or kind is _MethodDescriptor) and value.__name__ in _CALLING


def _is_harmless(value: "Any") -> bool:
    kind = type(value)
    if kind is _Builtin or kind is _MethodDescriptor or kind is _Wrapper:
        return value.__name__ in _HARMLESS
    return is_class(value) and in_c(value) and _module_of(value) != "_io"  # they ask where a stream stands, and if


def _is_direct(value: "Any", code: "CodeType") -> bool:
    """Return whether calling a value runs a code object without C code that could catch anything."""
    if value is MISSING:
        return False
    if type(value) is _Function:
        return value.__code__ is code
    if is_class(value):
        for name in ("__init__", "__new__"):
            if _runs(in_class(value, name), code):
                return True
        return _runs(in_class(type(value), "__call__"), code)
    return _runs(in_class(type(value), "__call__"), code)


def _runs(function: "Any", code: "CodeType") -> bool:
    if type(function) is staticmethod:
        function = function.__func__
    return type(function) is _Function and function.__code__ is code


def _builtin_name(value: "Any") -> str | None:
    if type(value) is _Builtin:
        return value.__name__ if value.__self__ is _builtins else None
    return _name_of(value) if value is not MISSING and is_class(value) and _module_of(value) == "builtins" else None


def _builtin(
    name: str, called: "Expression", inner: "FrameType", outer: "FrameType", thrown: ThrownException
) -> tuple[int, str] | None:
    """Judge the built-in functions that answer by catching."""
    count = len(called[2]) if called[2] is not None else None
    if name == "hasattr" or (name == "getattr" and count == 3):
        return (CATCHES, f"`{name}`") if thrown.is_a(AttributeError) else (PASSES, "")
    if name == "getattr" and count == 2:
        (_, asked) = called[2]
        return _attribute("LOAD_ATTR", NameScope(outer).value(asked), inner, thrown)
    step = inner.f_code.co_name
    if name == "next" and step == "__next__":
        return (CATCHES, "`next`") if count == 2 and thrown.is_a(StopIteration) else (PASSES, "")
    if (name == "next" and inner.f_code.co_flags & _GENERATORS) or (name in ("exec", "eval") and step == "<module>"):
        return (PASSES, "")
    if name in _CONSUMING and _ends_iteration(step, thrown):
        return (CATCHES, f"`{name}`")
    return None


def _ends_iteration(step: str, thrown: ThrownException) -> bool:
    """Return whether an exception of a function says that there is no next value."""
    if thrown.is_a(StopIteration):
        return step == "__next__" or step == "__getitem__"
    return step == "__getitem__" and thrown.is_a(IndexError)


_CONSUMING = frozenset("list tuple set frozenset sum any all min max sorted bytes bytearray".split())
"""Built-in functions and types that iterate to the end."""

_builtins = _Builtin.__dict__["__self__"].__get__(len)
