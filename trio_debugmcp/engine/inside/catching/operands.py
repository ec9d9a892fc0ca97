"""The expression that made a value on the stack, read backward from the instruction that takes it.

Python has no way to read the stack of a running frame. What an instruction is about to take is therefore described by
the instructions that put it there: a name, an attribute of an expression, a tuple of expressions, a call. The frame's
names can then be read, as far as no code has to run for that (`namespaces`). An expression is a tuple:

    ("fast" | "deref" | "name" | "global", name), ("const", value), ("attr", expression, name),
    ("item", expression, expression), ("tuple", (expression, ...)),
    ("call", callee, (argument, ...), names of keywords), ("super", name)

and None, also as a part of one, where the way back is not clear, as for a conditional expression.
"""

from trio_debugmcp.engine.inside.catching import opcodes
from trio_debugmcp.engine.inside.catching.disassembly import Disassembly
from trio_debugmcp.engine.inside.catching.stack_effects import effect

MYPY = False
if MYPY:
    from trio_debugmcp.engine.inside.catching.notation import Expression

MOST_STEPS = 400
"""Instructions that are read backward for one value."""

MOST_NESTED = 12

_PLAIN_LOADS = {
    "LOAD_FAST": "fast",
    "LOAD_FAST_BORROW": "fast",
    "LOAD_FAST_CHECK": "fast",
    "LOAD_DEREF": "deref",
    "LOAD_NAME": "name",
    "LOAD_GLOBAL": "global",
    "LOAD_FROM_DICT_OR_GLOBALS": "name",
}

_KEEPING = frozenset(
    "FOR_ITER SEND IMPORT_FROM GET_LEN GET_ANEXT CHECK_EXC_MATCH MATCH_MAPPING MATCH_SEQUENCE MATCH_KEYS".split()
)
"""Instructions that leave the lowest value they take as it is."""

_CALLS = frozenset({"CALL", "CALL_KW", "CALL_FUNCTION_EX"})


def producer(code: Disassembly, index: int, depth: int) -> tuple[int, int] | None:
    """Find what put the value that is `depth` below the top of the stack, before the instruction at `index`.

    Returns the index of the instruction, and which of the values that it puts it is, from the top. Where several ways
    lead to the instruction, they must all come from there.
    """
    origins = set()
    seen = {(index, depth)}
    pending = [(index, depth)]
    while pending:
        (at, deep) = pending.pop()
        if len(seen) > MOST_STEPS:
            return None
        before = code.predecessors(at)
        if not before:
            return None
        for previous in before:
            step = _back(code, previous, deep)
            if step is None:
                return None
            (put, further) = step
            if put:
                origins.add((previous, further))
            elif (previous, further) not in seen:
                seen.add((previous, further))
                pending.append((previous, further))
            if len(origins) > 1:
                return None
    return origins.pop() if origins else None


def _back(code: Disassembly, index: int, depth: int) -> tuple[bool, int] | None:
    """Undo one instruction: whether it put the value, and how deep the value is in what it put, or was before it."""
    (name, arg) = (code.names[index], code.args[index])
    if name == "SWAP":
        return (False, {0: arg - 1, arg - 1: 0}.get(depth, depth))
    if name == "COPY":
        return (False, arg - 1 if depth == 0 else depth - 1)
    change = effect(name, arg, opcodes.VERSION)
    if change is None:
        return None
    (taken, put) = change
    if depth < put:
        if name in _KEEPING and depth == put - 1:
            return (False, taken - 1)
        return (True, depth)
    return (False, depth - put + taken)


def expression(code: Disassembly, index: int, depth: int, nested: int = 0) -> "Expression | None":
    """Describe the value that is `depth` below the top of the stack before the instruction at `index`."""
    origin = producer(code, index, depth) if nested < MOST_NESTED else None
    if origin is None:
        return None
    (at, which) = origin
    (name, arg) = (code.names[at], code.args[at])
    plain = _plain(code, name, arg, which)
    if plain is not None:
        return plain
    if name == "LOAD_ATTR":
        return ("attr", expression(code, at, 0, nested + 1), code.code.co_names[arg >> 1])
    if name == "BINARY_SUBSCR":
        return ("item", expression(code, at, 1, nested + 1), expression(code, at, 0, nested + 1))
    if name == "LOAD_SUPER_ATTR":
        return ("super", code.code.co_names[arg >> 2])
    if name == "BUILD_TUPLE":
        return ("tuple", tuple([expression(code, at, arg - 1 - place, nested + 1) for place in range(arg)]))
    if name in _CALLS:
        return call(code, at, nested)
    return None


def _plain(code: Disassembly, name: str, arg: int, which: int) -> "Expression | None":
    """Describe a value that one instruction takes from where it is kept."""
    kind = _PLAIN_LOADS.get(name)
    if kind is not None:
        if kind in ("fast", "deref"):
            return (kind, code.local(arg))
        return (kind, code.code.co_names[arg >> 1 if name == "LOAD_GLOBAL" else arg])
    if name == "LOAD_CONST":
        return ("const", code.code.co_consts[arg])
    if name in ("LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW"):
        return ("fast", code.local(arg & 15 if which == 0 else arg >> 4))
    if name == "STORE_FAST_LOAD_FAST":
        return ("fast", code.local(arg & 15))
    return None


def callee(code: Disassembly, index: int, nested: int = 0) -> "Expression | None":
    """Describe what the call at `index` calls."""
    depth = _callee_depth(code, index)
    return None if depth is None else expression(code, index, depth, nested + 1)


def _callee_depth(code: Disassembly, index: int) -> int | None:
    (name, arg) = (code.names[index], code.args[index])
    if opcodes.VERSION >= (3, 13):
        if name == "CALL_FUNCTION_EX":
            return 3 if opcodes.VERSION >= (3, 14) else 2 + (arg & 1)
        return arg + 2 if name == "CALL_KW" else arg + 1
    if name == "CALL_FUNCTION_EX":
        return 1 + (arg & 1)
    below = producer(code, index, arg + 1)
    if below is None:
        return None
    null = code.names[below[0]] == "PUSH_NULL" or below[1] == 1  # put below the callee by what loads that
    return arg if null else arg + 1


def call(code: Disassembly, index: int, nested: int = 0) -> "Expression":
    """Describe the call at `index`: the callee, the arguments as far as they are plain, and the names of keywords."""
    called = callee(code, index, nested)
    (name, arg) = (code.names[index], code.args[index])
    if name == "CALL_FUNCTION_EX":
        return ("call", called, None, ())
    first = 0
    keywords: Expression = ()
    if name == "CALL_KW":
        names = expression(code, index, 0, nested + 1)
        if names is None or names[0] != "const":
            return ("call", called, None, ())
        (first, keywords) = (1, names[1])
    elif index and code.names[index - 1] == "KW_NAMES":
        keywords = code.code.co_consts[code.args[index - 1]]
    arguments = tuple([expression(code, index, first + arg - 1 - place, nested + 1) for place in range(arg)])
    return ("call", called, arguments, keywords)
