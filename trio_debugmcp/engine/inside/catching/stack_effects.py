"""How many values each instruction takes from the stack and puts there. Of a branch, on the way without the jump."""

MYPY = False
if MYPY:
    from trio_debugmcp.engine.inside.catching.notation import Callable

FIXED = {
    "SEND": (2, 2),
    **dict.fromkeys(
        "NOP RESUME MAKE_CELL COPY_FREE_VARS DELETE_FAST DELETE_DEREF DELETE_GLOBAL DELETE_NAME SETUP_ANNOTATIONS"
        " KW_NAMES JUMP_FORWARD JUMP_BACKWARD JUMP_BACKWARD_NO_INTERRUPT NOT_TAKEN".split(),
        (0, 0),
    ),
    **dict.fromkeys(
        "PUSH_NULL LOAD_CONST LOAD_FAST LOAD_FAST_CHECK LOAD_FAST_AND_CLEAR LOAD_FAST_BORROW LOAD_CLOSURE"
        " LOAD_DEREF LOAD_NAME LOAD_BUILD_CLASS LOAD_ASSERTION_ERROR LOAD_LOCALS LOAD_SMALL_INT"
        " LOAD_COMMON_CONSTANT RETURN_GENERATOR".split(),
        (0, 1),
    ),
    **dict.fromkeys(("LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW"), (0, 2)),
    **dict.fromkeys(
        "UNARY_NEGATIVE UNARY_NOT UNARY_INVERT TO_BOOL GET_ITER GET_YIELD_FROM_ITER GET_AITER GET_AWAITABLE"
        " CONVERT_VALUE FORMAT_SIMPLE CALL_INTRINSIC_1 LOAD_FROM_DICT_OR_GLOBALS LOAD_FROM_DICT_OR_DEREF"
        " YIELD_VALUE STORE_FAST_LOAD_FAST".split(),
        (1, 1),
    ),
    **dict.fromkeys(
        "POP_TOP STORE_FAST STORE_DEREF STORE_GLOBAL STORE_NAME DELETE_ATTR POP_JUMP_IF_FALSE POP_JUMP_IF_TRUE"
        " POP_JUMP_IF_NONE POP_JUMP_IF_NOT_NONE LIST_APPEND SET_ADD LIST_EXTEND SET_UPDATE DICT_UPDATE DICT_MERGE"
        " POP_EXCEPT RETURN_VALUE POP_ITER".split(),
        (1, 0),
    ),
    **dict.fromkeys(
        "BINARY_SUBSCR BINARY_OP COMPARE_OP IS_OP CONTAINS_OP IMPORT_NAME CALL_INTRINSIC_2 END_SEND FORMAT_WITH_SPEC"
        "SET_FUNCTION_ATTRIBUTE".split(),
        (2, 1),
    ),
    **dict.fromkeys("CHECK_EXC_MATCH CHECK_EG_MATCH".split(), (2, 2)),
    **dict.fromkeys("GET_LEN IMPORT_FROM PUSH_EXC_INFO FOR_ITER GET_ANEXT".split(), (1, 2)),
    **dict.fromkeys("MATCH_MAPPING MATCH_SEQUENCE".split(), (1, 2)),
    **dict.fromkeys("STORE_ATTR DELETE_SUBSCR MAP_ADD STORE_FAST_STORE_FAST".split(), (2, 0)),
    "MATCH_KEYS": (2, 3),
    "MATCH_CLASS": (3, 1),
    "STORE_SUBSCR": (3, 0),
    "STORE_SLICE": (4, 0),
    "BINARY_SLICE": (3, 1),
    "BEFORE_WITH": (1, 2),
    "BEFORE_ASYNC_WITH": (1, 2),
    "LOAD_SPECIAL": (1, 2),
    "WITH_EXCEPT_START": (0, 1),
    "END_ASYNC_FOR": (2, 0),
    "CLEANUP_THROW": (3, 2),
    "RETURN_CONST": (0, 0),
}
"""(taken, put) of the instructions that do the same with any argument."""


VARIABLE: "dict[str, Callable[[int], tuple[int, int]]]" = {
    "LOAD_GLOBAL": lambda arg: (0, 1 + (arg & 1)),
    "LOAD_ATTR": lambda arg: (1, 1 + (arg & 1)),
    "LOAD_SUPER_ATTR": lambda arg: (3, 1 + (arg & 1)),
    "CALL": lambda arg: (arg + 2, 1),
    "CALL_KW": lambda arg: (arg + 3, 1),
    "CALL_FUNCTION_EX": lambda arg: (3 + (arg & 1), 1),
    "BUILD_TUPLE": lambda arg: (arg, 1),
    "BUILD_LIST": lambda arg: (arg, 1),
    "BUILD_SET": lambda arg: (arg, 1),
    "BUILD_STRING": lambda arg: (arg, 1),
    "BUILD_MAP": lambda arg: (2 * arg, 1),
    "BUILD_CONST_KEY_MAP": lambda arg: (arg + 1, 1),
    "BUILD_SLICE": lambda arg: (3 if arg == 3 else 2, 1),
    "FORMAT_VALUE": lambda arg: (2 if arg & 4 else 1, 1),
    "MAKE_FUNCTION": lambda arg: (1 + bin(arg & 15).count("1"), 1),
    "UNPACK_SEQUENCE": lambda arg: (1, arg),
    "UNPACK_EX": lambda arg: (1, (arg & 255) + (arg >> 8) + 1),
}
"""(taken, put) by the argument."""


def effect(name: str, arg: int, version: tuple[int, int]) -> tuple[int, int] | None:
    """Return how many values an instruction takes and puts, or None if it is not known here."""
    if name == "END_FOR":
        return (2, 0) if version < (3, 13) else (1, 0)
    if name == "CALL_FUNCTION_EX" and version >= (3, 14):
        return (4, 1)
    of = VARIABLE.get(name)
    return of(arg) if of is not None else FIXED.get(name)
