"""Which objects a frame is using: what it calls now, and the `with` blocks that it is in.

The instructions before the current one are followed with a stack of names and values, as far as this needs no code of
the program: variables, fields, items of lists and dicts, whole numbers. Everything else is unknown. Variables have the
values of now, so that what was loaded earlier is only probably the same object.
"""

import builtins
import types
from typing import Any, Dict, List, Optional, Tuple

from trio_debugmcp.probe.inside.values import facts

_FOLLOWED = 80
"""Instructions before the current one that are followed to find what it calls."""

_MOST_INSTRUCTIONS = 3000
"""Of a function that is searched for `with` blocks."""

_MOST_BYTES = 30000
"""Of the bytecode of a function that is read at all: about 15,000 instructions, which take some 20 ms."""

_MOST_CODES = 300
"""Functions whose instructions are kept."""

_BUILTINS = vars(builtins)


class Known:
    """An expression on the stack and its value.

    Attributes:
        owner: of an attribute: whose.
    """

    __slots__ = ("owner", "text", "value")

    def __init__(self, text: str, value: Any, owner: Any = facts.MISSING) -> None:
        self.text = text
        self.value = value
        self.owner = owner

    @property
    def last(self) -> str:
        """The last name of the expression."""
        return self.text.rpartition(".")[2]


UNKNOWN = Known("", facts.MISSING)

Stack = List[Known]


class ReadCode:
    """What is known of a function, and kept: reading its instructions takes a millisecond."""

    def __init__(self, code: types.CodeType) -> None:
        if len(code.co_code) > _MOST_BYTES:
            raise ValueError("a function too long to read")
        import dis  # not before: at most stops no function is read

        self.code = code
        self.instructions: List[Any] = list(dis.get_instructions(code))
        self.starts: Dict[int, int] = {}
        self._sites: Optional[Tuple[List[Tuple[int, int]], List[int]]] = None
        self._table: Optional[List[Tuple[int, int, int]]] = None

    def start(self, index: int) -> int:
        """Return where to begin to follow, for what is on the stack at an index: where its statement begins."""
        known = self.starts.get(index)
        if known is None:
            least = known = max(0, index - _FOLLOWED)
            for each in range(index - 1, least - 1, -1):
                if self.instructions[each].opname in _ENDS:
                    known = each + 1
                    break
            self.starts[index] = known
        return known

    def sites(self) -> Tuple[List[Tuple[int, int]], List[int]]:
        """Return its `with` blocks, and the indices of the names `acquire` and `release`."""
        if self._sites is None:
            found = self.instructions if len(self.instructions) <= _MOST_INSTRUCTIONS else []
            names = [
                index
                for index, each in enumerate(found)
                if each.opname in ("LOAD_ATTR", "LOAD_METHOD") and each.argval in ("acquire", "release")
            ]
            self._sites = (_with_blocks(found), names)
        return self._sites

    def table(self) -> List[Tuple[int, int, int]]:
        """Return start, end and handler of its protected ranges; empty up to 3.10."""
        if self._table is None:
            import dis

            entries = getattr(dis.Bytecode(self.code), "exception_entries", None) or ()
            self._table = [(entry.start, entry.end, entry.target) for entry in entries]
        return self._table


_ENDS = ("POP_TOP", "STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF", "STORE_ATTR", "STORE_SUBSCR", "RESUME")
"""Instructions that end a statement."""

_CALLS = {"CALL": 1, "CALL_FUNCTION": 1, "CALL_METHOD": 1, "CALL_KW": 2, "CALL_FUNCTION_KW": 2}
"""Calls, and what they take from the stack beside their arguments: the function, and a tuple of names."""

_codes: Dict[int, ReadCode] = {}
"""By id: comparing code objects takes as long as their code."""


def known_code(code: types.CodeType) -> ReadCode:
    """Return what is kept of a function."""
    found = _codes.get(id(code))
    if found is None:
        if len(_codes) >= _MOST_CODES:
            _codes.clear()
        found = _codes[id(code)] = ReadCode(code)
    return found


def instructions(code: types.CodeType) -> List[Any]:
    """Return the instructions of a function."""
    return known_code(code).instructions


def position(frame: Any) -> int:
    """Return the index of the current instruction of a frame."""
    last = frame.f_lasti
    low, found = 0, instructions(frame.f_code)
    high = len(found)
    while low < high:
        middle = (low + high) // 2
        if found[middle].offset <= last:
            low = middle + 1
        else:
            high = middle
    return max(low - 1, 0)


def may_call(frame: Any) -> bool:
    """Whether the current instruction calls something, without reading the others: most threads that run do not."""
    import dis

    code = frame.f_code.co_code
    name = dis.opname[code[frame.f_lasti]] if 0 <= frame.f_lasti < len(code) else ""
    return "CALL" in name or "WITH" in name or name == "FOR_ITER" or name.startswith("<")


def in_use(frame: Any, far: bool = False) -> Stack:
    """Return what is known of a frame's stack before its current instruction, the top last.

    Args:
        frame: Any frame, of any thread.
        far: Begin well before the statement, which a part of an expression (`a or b`) looks like the end of.
    """
    end = position(frame)
    return follow(frame, max(0, end - _FOLLOWED), end) if far else stack_at(frame, end)


def callee_index(frame: Any, stack: Stack) -> Optional[int]:
    """Return where on the stack that the current instruction uses the function is that it calls; None if not known."""
    instruction = instructions(frame.f_code)[position(frame)]
    if instruction.opname not in _CALLS:
        return None
    index = len(stack) - int(instruction.arg) - _CALLS[instruction.opname]
    return index if index >= 0 else None


def stack_at(frame: Any, index: int) -> Stack:
    """Return what is known of a frame's stack before an instruction of its function, the top last."""
    return follow(frame, known_code(frame.f_code).start(index), index)


def follow(frame: Any, start: int, end: int) -> Stack:
    """Return what is known of a frame's stack when it has run its instructions from one index to another."""
    names = frame.f_locals
    stack: Stack = []
    branches: Dict[int, Stack] = {}
    ended = False  # what follows a jump or a return is reached from elsewhere, with the stack that it had there
    for instruction in instructions(frame.f_code)[start:end]:
        arrived = branches.get(instruction.offset)
        if ended:
            stack = list(arrived or ())
        _step(frame, names, stack, instruction)
        name = instruction.opname
        if "JUMP" in name and type(instruction.argval) is int:
            branches.setdefault(instruction.argval, list(stack))
        ended = name.startswith(("RETURN", "RAISE", "RERAISE", "JUMP_FORWARD", "JUMP_ABSOLUTE", "JUMP_BACKWARD"))
    return list(branches.get(_offset(frame, end), ())) if ended else stack


def _offset(frame: Any, index: int) -> int:
    found = instructions(frame.f_code)
    return found[index].offset if index < len(found) else -1


def _step(frame: Any, names: Any, stack: Stack, instruction: Any) -> None:
    name, argument = instruction.opname, instruction.argval
    if "LOAD_FAST" in name or name in ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_DEREF", "LOAD_CLASSDEREF"):
        if name.startswith("STORE_FAST") and stack:
            stack.pop()
            argument = argument[1:] if type(argument) is tuple else argument
        for each in argument if type(argument) is tuple else (argument,):
            stack.append(_variable(frame, names, each))
    elif name == "LOAD_CONST":
        stack.append(Known(repr(argument) if type(argument) in (int, str) else "", argument))
    elif name == "LOAD_SMALL_INT":
        stack.append(Known(str(argument), argument))
    elif name in ("LOAD_ATTR", "LOAD_METHOD"):
        owner = stack.pop() if stack else UNKNOWN
        stack.append(_attribute(owner, str(argument)))
    elif name in ("BINARY_SUBSCR", "BINARY_OP", "BINARY_MODULO", "BINARY_ADD", "BINARY_SUBTRACT"):
        right, left = (stack.pop() if stack else UNKNOWN), (stack.pop() if stack else UNKNOWN)
        stack.append(_binary(left, right, str(instruction.argrepr) or name))
    elif name == "COPY" and 0 < argument <= len(stack):
        stack.append(stack[-argument])
    elif name == "SWAP" and 0 < argument <= len(stack):
        stack[-1], stack[-argument] = stack[-argument], stack[-1]
    elif name == "GET_ITER":  # the iterator of a file is the file; for others FOR_ITER says nothing
        return
    elif name == "DUP_TOP" and stack:
        stack.append(stack[-1])
    else:
        _unknown(stack, instruction)


def _unknown(stack: Stack, instruction: Any) -> None:
    """Follow an instruction of which only the effect on the height of the stack is known."""
    name, argument = instruction.opname, instruction.arg
    if name in ("CACHE", "PRECALL", "KW_NAMES", "RESUME", "NOP", "EXTENDED_ARG", "PUSH_NULL"):
        return
    if name in _CALLS:  # of the two entries that a version has for a function, NULL or a method's object, one is here
        del stack[-min(len(stack), argument + _CALLS[name]) :]
        stack.append(UNKNOWN)
        return
    import dis

    try:
        effect = dis.stack_effect(instruction.opcode, argument, jump=False)
    except ValueError:
        effect = 0
    results = 1 if "CALL" in name or name.startswith(("BUILD", "GET", "FORMAT")) else 0
    for _ in range(min(results - effect, len(stack))):
        stack.pop()
    stack.extend([UNKNOWN] * max(results, effect))


def _variable(frame: Any, names: Any, name: str) -> Known:
    for scope in (names, frame.f_globals, _BUILTINS):
        found = scope.get(name, facts.MISSING)
        if found is not facts.MISSING:
            return Known(name, found)
    return Known(name, facts.MISSING)


def _attribute(owner: Known, name: str) -> Known:
    text = f"{owner.text}.{name}" if owner.text else name
    if owner.value is facts.MISSING:
        return Known(text, facts.MISSING)
    return Known(text, facts.attribute(owner.value, name), owner.value)


def _binary(left: Known, right: Known, operator: str) -> Known:
    if operator in ("BINARY_SUBSCR", "[]"):
        return Known(f"{left.text}[{right.text}]", _item(left.value, right.value))
    if type(left.value) is int and type(right.value) is int and abs(left.value) + abs(right.value) < 1 << 40:
        if operator in ("BINARY_MODULO", "%") and right.value:
            return Known(f"{left.text} % {right.text}", left.value % right.value)
        if operator in ("BINARY_ADD", "+"):
            return Known(f"({left.text} + {right.text})", left.value + right.value)
        if operator in ("BINARY_SUBTRACT", "-"):
            return Known(f"({left.text} - {right.text})", left.value - right.value)
    return UNKNOWN


def _item(value: Any, key: Any) -> Any:
    if type(key) not in (int, str) or type(value) not in (list, tuple, dict):
        return facts.MISSING
    try:
        return value[key]
    except (LookupError, TypeError):
        return facts.MISSING


# --- Blocks -----------------------------------------------------------------------------------------------------------


def loads_enter(instruction: Any) -> bool:
    """Return whether an instruction of Python 3.14 loads the `__enter__` of a `with` statement."""
    return bool(instruction.opname == "LOAD_SPECIAL" and instruction.arg == 0)


def copied(found: List[Any], index: int) -> int:
    """Return the index of the instruction before which the manager is on the stack; 3.14 then copies it."""
    return next((each for each in range(index, max(index - 6, 0), -1) if found[each].opname == "COPY"), index)


def _with_blocks(found: List[Any]) -> List[Tuple[int, int]]:
    """Index of the instruction before which the manager is on the stack, and that of the first one of the block."""
    blocks = []
    for index, instruction in enumerate(found):
        if instruction.opname in ("SETUP_WITH", "BEFORE_WITH"):
            blocks.append((index, index + 1))
        elif instruction.opname == "BEFORE_ASYNC_WITH":
            blocks.append((index, _behind_await(found, index)))
        elif loads_enter(instruction):  # 3.14: then its call
            blocks.append((copied(found, index), index + 2))
    return blocks


def _behind_await(found: List[Any], index: int) -> int:
    """Return the index of the first instruction of the block of an `async with`: behind what awaits its entering."""
    for number in range(index, min(index + 8, len(found))):
        if found[number].opname == "SETUP_ASYNC_WITH":  # up to 3.10
            return number + 1
        if found[number].opname == "SEND":
            offset: int = found[number].argval
            behind = next((later for later in range(number, len(found)) if found[later].offset >= offset), number)
            return behind + int(found[behind].opname == "END_SEND")
    return len(found)
