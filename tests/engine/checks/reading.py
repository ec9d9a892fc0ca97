"""What is read from code objects: opcodes, effects on the stack, exception tables, expressions, plans."""

# mypy: ignore-errors

import dis
import opcode
import pathlib
import sys
import types

from trio_debugmcp.engine.inside.catching import (
    disassembly,
    exception_table,
    opcodes,
    operands,
    readings,
    stack_effects,
)

VERSION = sys.version_info[:2]


def check_the_numbers_of_opcodes_are_those_of_this_interpreter():
    real = {number: name for name, number in opcode.opmap.items() if number < 255 and not name.startswith("INSTR")}
    real.pop(opcode.opmap.get("RESERVED"), None)
    assert {number: name for number, name in opcodes.NAMES.items() if number in real} == real
    assert opcodes.names_of((3, 11)) == {}


def check_effects_on_the_stack_are_those_of_dis():
    apart = {"MAKE_FUNCTION", "COPY", "SWAP", "RAISE_VARARGS", "RERAISE", "RETURN_GENERATOR", "SEND", "CACHE"}
    compared = 0
    for number, name in opcodes.NAMES.items():
        if name in apart or number >= 255:
            continue
        for arg in range(6):
            took = stack_effects.effect(name, arg, VERSION)
            if took is not None:
                has_argument = number in dis.hasarg
                assert took[1] - took[0] == dis.stack_effect(number, arg if has_argument else None, jump=False), name
                compared += 1
    assert compared > 400


def functions_of_the_library():
    import argparse
    import ast
    import asyncio.base_events
    import contextlib
    import subprocess
    import typing

    for module in (argparse, ast, asyncio.base_events, contextlib, subprocess, typing):
        pending = [compile(pathlib.Path(module.__file__).read_bytes(), module.__file__, "exec")]
        while pending:
            code = pending.pop()
            pending += [each for each in code.co_consts if type(each) is type(code)]
            yield code


def check_instructions_and_tables_are_those_of_dis():
    compared = 0
    for code in functions_of_the_library():
        real = [each for each in dis.get_instructions(code) if each.opname != "EXTENDED_ARG"]
        ours = disassembly.Disassembly(code)
        assert ours.names == [each.opname for each in real]
        assert ours.args == [each.arg or 0 for each in real]
        for index, each in enumerate(real):
            assert ours.index(each.offset) == index
            if index in ours.jumps:
                assert ours.offsets[ours.jumps[index]] <= each.argval
        table = [(each.start, each.end, each.target, each.depth) for each in dis.Bytecode(code).exception_entries]
        assert [(each.start, each.end, each.target, each.depth) for each in exception_table.entries(code)] == table
        compared += 1
    assert compared > 500


def check_every_handler_of_the_library_is_understood():
    kinds = {}
    for code in functions_of_the_library():
        reading = readings.CodeReading(code)
        for entry in exception_table.entries(code):
            plan = reading.plan(entry.start)
            if plan[0] == 8:
                kinds[plan[1]] = kinds.get(plan[1], 0) + 1
    assert readings.UNREADABLE[1] not in kinds
    assert "the handler is not as the compiler makes them" not in kinds
    assert "the handler has too many branches to be read" not in kinds


def called(text):
    code = disassembly.Disassembly(compile(f"def f(a, b):\n    {text}", "<text>", "exec").co_consts[0])
    at = max(index for index, name in enumerate(code.names) if name.startswith("CALL") and "INTRINSIC" not in name)
    return operands.call(code, at)


def check_calls_are_described_by_what_they_call():
    assert called("a(b)") == ("call", ("fast", "a"), (("fast", "b"),), ())
    assert called("print(1, sep=2)")[1:] == (("global", "print"), (("const", 1), ("const", 2)), ("sep",))
    assert called("a.b.c(x if b else y)")[1] == ("attr", ("attr", ("fast", "a"), "b"), "c")
    assert called("a.b(*b)")[1] == ("attr", ("fast", "a"), "b")
    assert called("a.b(**b)")[1] == ("attr", ("fast", "a"), "b")
    assert called("(a or b)(1)")[1] is None
    assert called("a[0](1)")[1] == ("item", ("fast", "a"), ("const", 0))
    assert called("print([x for x in a if x], b)")[1] == ("global", "print")
    assert called("super().run(1)")[1] == ("attr", ("call", ("global", "super"), (), ()), "run")


def check_code_that_no_compiler_makes_is_answered():
    real = compile("try: f()\nexcept E: g()", "<text>", "exec")
    for byte in range(256):
        broken = types.SimpleNamespace(**{name: getattr(real, name) for name in dir(real) if name.startswith("co_")})
        broken.co_code = bytes(byte if place % 4 == 0 else each for place, each in enumerate(real.co_code))
        broken.co_exceptiontable = bytes([0x80, 20, byte % 64, 1, 0x80 + 21, 3, byte % 7, 1])
        for offset in range(0, len(broken.co_code), 2):
            assert readings.CodeReading(broken).plan(offset)


def check_what_is_kept_is_bounded_and_by_identity():
    one, two = (compile("try: f()\nexcept E: g()", name, "exec") for name in ("<a>", "<b>"))
    assert one == two
    assert readings.of(one) is not readings.of(two)
    kept = readings.of(one)
    for _ in range(3 * readings.MOST):
        readings.of(compile("f()", "<many>", "exec"))
        readings.of(one)
    assert readings.of(one) is kept
    assert len(readings._young) + len(readings._old) <= 2 * readings.MOST
