"""The functions and methods that `evaluate_safe` calls: builtin ones, on builtin values.

A function is known by what its name leads to. A variable named `len` is not the builtin; a builtin under another name
is.
"""

import types
from typing import Any, Callable, Dict, FrozenSet, List

from trio_debugmcp.probe.inside.safe import operators, readable
from trio_debugmcp.probe.inside.safe.operators import arithmetic, comparison
from trio_debugmcp.probe.inside.safe.readable import (
    ATOMS,
    MOST_BITS,
    NUMBERS,
    RejectedError,
    name_of,
    one_of,
)
from trio_debugmcp.probe.inside.values import facts

_BUILTIN: Any = type(len)

_USED = (abs, all, any, getattr, format, id, isinstance, issubclass, len, max, min, sorted, sum, vars)
_NAMES = "abs all any getattr format id isinstance issubclass len max min sorted sum vars".split()
_CLASSES = (bool, bytes, complex, dict, enumerate, float, frozenset, int, list, map, range, reversed, set, slice, str)
"""Functions and classes that these modules use: were one of them the program's, nothing would be safe."""

_MOST_DIGITS = 1000

_MOST_TEXT = 10 * readable.MOST_ITEMS


def check_builtins() -> None:
    """Refuse everything in a program that has replaced builtin functions, which this code calls itself."""
    for name, found in zip(_NAMES, _USED):
        if type(found) is not _BUILTIN or found.__name__ != name:
            raise RejectedError(f"the program has replaced the builtin `{name}`: nothing is safe in it")
    for kind in (*_CLASSES, tuple, type, zip):
        if facts.is_heap_type(kind):
            raise RejectedError("the program has replaced a builtin class: nothing is safe in it")


def hashable(found: List[Any]) -> List[Any]:
    """Return keys for a dict or a set, or refuse."""
    if not readable.has_plain_keys(found):
        raise RejectedError("keys and items of sets are texts, numbers, or tuples of these: a hash could run code")
    return found


def _plain(found: Any) -> Any:
    if not operators.is_plain(found):
        raise RejectedError(f"{name_of(type(found))} has, or holds, what is not builtin: its methods could run")
    return found


# --- Functions --------------------------------------------------------------------------------------------------------


def _text(function: Callable[[Any], str]) -> Callable[..., Any]:
    def text(found: Any) -> str:
        return function(_plain(found))

    return text


def _number(kind: type) -> Callable[..., Any]:
    def number(*found: Any) -> Any:
        if any(not one_of(type(each), ATOMS) for each in found):
            raise RejectedError("only numbers and texts are converted: other types do it by their methods")
        if any(one_of(type(each), (str, bytes)) and len(each) > 4000 for each in found):
            raise RejectedError("the text is too long for a number")
        return kind(*found)

    return number


def _numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    def compute(*found: Any) -> Any:
        if any(not one_of(type(each), NUMBERS) for each in found):
            raise RejectedError("it is computed of numbers only")
        return function(*found)

    return compute


def _best(name: str) -> Callable[..., Any]:
    def best(*found: Any) -> Any:
        values = readable.items(found[0]) if len(found) == 1 else list(found)
        if not values:
            raise ValueError("there is no item")
        kept = values[0]
        for value in values[1:]:
            kept = value if comparison(name, value, kept) else kept
        return kept

    return best


def _sum(values: Any, start: Any = 0) -> Any:
    for item in readable.items(values):
        if not one_of(type(item), NUMBERS):
            raise RejectedError("only numbers are summed")
        start = arithmetic("Add", start, item)
    return start


def _isinstance(value: Any, kind: Any) -> bool:
    kinds = kind if type(kind) is tuple else (kind,)
    for each in kinds:
        if type(each) is not type:
            raise RejectedError("isinstance asks the class of the class, unless that is `type`")
    # The class of the object itself: `__class__` may be a property of the program.
    return any(one_of(each, facts.mro(type(value))) for each in kinds)


def _getattr(value: Any, name: Any, *default: Any) -> Any:
    if type(name) is not str or name[:2] == "__":
        raise RejectedError("the name of an attribute is a text, and does not begin with `__`")
    try:
        return readable.attribute(value, name)
    except AttributeError:
        if default:
            return default[0]
        raise


def _hasattr(value: Any, name: Any) -> bool:
    return _getattr(value, name, facts.MISSING) is not facts.MISSING


def _sorted(values: Any, reverse: bool = False) -> List[Any]:
    return sorted(_plain(readable.items(values)), reverse=reverse)


def _zip(*values: Any) -> List[Any]:
    return list(zip(*[readable.items(value) for value in values]))


def _enumerate(values: Any, start: int = 0) -> List[Any]:
    if type(start) is not int:
        raise RejectedError("it counts from a whole number")
    return list(enumerate(readable.items(values), start))


def _type(value: Any) -> type:
    return type(value)


def _round(number: Any, digits: Any = None) -> Any:
    if digits is not None and (type(digits) is not int or abs(digits) > _MOST_DIGITS):
        raise RejectedError(f"it rounds to {_MOST_DIGITS} digits at most")
    return _numbers(round)(number) if digits is None else _numbers(round)(number, digits)


def _made(kind: Callable[[List[Any]], Any]) -> Callable[..., Any]:
    return lambda values=(): kind(readable.items(values))


_FUNCTIONS: Dict[str, Callable[..., Any]] = {
    "abs": _numbers(abs),
    "all": lambda values: all(map(operators.truth, readable.items(values))),
    "any": lambda values: any(map(operators.truth, readable.items(values))),
    "ascii": _text(ascii),
    "bin": _numbers(bin),
    "callable": lambda value: readable.class_entry(type(value), "__call__") is not facts.MISSING,
    "chr": _numbers(chr),
    "divmod": _numbers(lambda a, b: (arithmetic("FloorDiv", a, b), arithmetic("Mod", a, b))),
    "getattr": _getattr,
    "hasattr": _hasattr,
    "hex": _numbers(hex),
    "id": id,
    "isinstance": _isinstance,
    "len": readable.length,
    "max": _best("Gt"),
    "min": _best("Lt"),
    "oct": _numbers(oct),
    "ord": lambda text: ord(_plain(text)),
    "repr": _text(repr),
    "round": _round,
    "sorted": _sorted,
    "sum": _sum,
}
"""Builtin functions, by their names."""

_TYPES: Dict[int, str] = {id(kind): facts.type_name(kind) for kind in (*_CLASSES, tuple, type, zip)}

_MAKERS: Dict[str, Callable[..., Any]] = {
    "bool": lambda value=False: operators.truth(value),
    "complex": _number(complex),
    "enumerate": _enumerate,
    "float": _number(float),
    "frozenset": _made(lambda values: frozenset(hashable(values))),
    "int": _number(int),
    "list": _made(list),
    "range": _numbers(range),
    "reversed": _made(lambda values: values[::-1]),
    "set": _made(lambda values: set(hashable(values))),
    "str": _text(str),
    "tuple": _made(tuple),
    "type": _type,
    "zip": _zip,
}
_MATH: FrozenSet[str] = frozenset(
    "acos asin atan atan2 ceil copysign cos degrees exp fabs floor fmod hypot isclose isfinite isinf isnan log log10 "
    "log2 modf radians sin sqrt tan trunc".split()
)
"""Functions of `math`, which take numbers."""


def call(function: Any, arguments: Callable[[], List[Any]], reverse: List[Any]) -> Any:
    """Call a function if it is one of those that are known; only then the arguments are computed.

    Raises:
        RejectedError: it is another one.
    """
    if type(function) is _BUILTIN and type(function.__self__) is types.ModuleType:
        module = readable.entry(vars(function.__self__), "__name__")
        name = function.__name__
        if type(module) is str and module == "builtins" and name in _FUNCTIONS:
            return call_builtin(name, arguments(), reverse)
        if type(module) is str and module == "math" and name in _MATH and not reverse:
            return _numbers(function)(*_small(arguments()))
    made = _TYPES.get(id(function))
    if made in _MAKERS and not reverse:
        return call_builtin(str(made), arguments())
    raise RejectedError(
        f"it calls {_described(function)}, which is not one of the builtin functions that are known to change nothing"
    )


def call_builtin(name: str, arguments: List[Any], reverse: Any = ()) -> Any:
    """Call one of our counterparts of a builtin function."""
    if reverse:
        if name != "sorted":
            raise RejectedError("keywords are not passed, but for `reverse` of sorted")
        arguments = [*arguments, operators.truth(reverse[0])]
    found = _FUNCTIONS[name] if name in _FUNCTIONS else _MAKERS[name]
    if name in ("abs", "divmod", "round", "bin", "hex", "oct", "range"):
        arguments = _small(arguments)
    return found(*arguments)


def _small(arguments: List[Any]) -> List[Any]:
    if any(one_of(type(argument), (int, bool)) and argument.bit_length() > MOST_BITS for argument in arguments):
        raise RejectedError(f"a number has more than {MOST_BITS} bits")
    return arguments


def _described(function: Any) -> str:
    if type(function) is types.FunctionType:
        return f"the program's function {function.__name__}"
    if type(function) is _BUILTIN:
        return f"the function {function.__name__}"
    if issubclass(type(function), type):
        return f"the class {name_of(function)}"
    return f"a {name_of(type(function))}"


# --- Methods ----------------------------------------------------------------------------------------------------------

_TEXT_METHODS = frozenset(
    "capitalize casefold count endswith find index isalnum isalpha isascii isdecimal isdigit isidentifier islower "
    "isnumeric isprintable isspace istitle isupper join lower lstrip partition removeprefix removesuffix rfind rindex "
    "rpartition rsplit rstrip split splitlines startswith strip swapcase title upper".split()
)
_METHODS: Dict[type, FrozenSet[str]] = {
    str: _TEXT_METHODS,
    bytes: _TEXT_METHODS,
    int: frozenset({"bit_length"}),
    float: frozenset({"is_integer", "hex"}),
    list: frozenset({"count", "index"}),
    tuple: frozenset({"count", "index"}),
    dict: frozenset({"get", "items", "keys", "values"}),
}


def has_methods(value: Any) -> bool:
    """Whether a value is of a builtin type some of whose methods are called."""
    return any(readable.one_of(type(value), (kind,)) or _is_child(value, kind) for kind in (dict, *_METHODS))


def _is_child(value: Any, kind: type) -> bool:
    return kind in (dict, list, tuple) and issubclass(type(value), kind)


def call_method(value: Any, name: str, arguments: List[Any]) -> Any:
    """Call a method of a builtin value; that of a child class only if it is the builtin one."""
    base = readable.builtin_base(value, name, _METHODS)
    if base is None or name not in _METHODS[base]:
        raise RejectedError(f"{name} of {name_of(type(value))} is not one of the methods known to change nothing")
    if base is dict:
        return _of_dict(value, name, arguments)
    if base in (list, tuple):
        _plain(readable.items(value))
    elif name == "join" and len(arguments) == 1:
        arguments = [readable.items(arguments[0])]
        if sum(len(_plain(argument)) + len(value) for argument in arguments[0]) > _MOST_TEXT:
            raise RejectedError("the text would be too long")
    if base in (str, bytes):
        operators.check_text(value)
        for argument in arguments:
            operators.check_text(argument if name != "join" and one_of(type(argument), (str, bytes)) else "", 1000)
    return getattr(base, name)(value, *[_plain(argument) for argument in arguments])


def _of_dict(value: Any, name: str, arguments: List[Any]) -> Any:
    if name == "get":
        try:
            key, default = arguments if len(arguments) == 2 else (*arguments, None)
            return readable.item(value, key)
        except KeyError:
            return default
    if arguments:
        raise TypeError(f"{name} takes no arguments")
    return readable.bounded(getattr(dict, name)(value), readable.length(value))
