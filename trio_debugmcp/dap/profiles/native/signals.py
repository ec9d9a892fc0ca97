"""Exceptions of C++ and signals, looked at in memory: no code of the program is run.

At `__cxa_throw` the debugger knows two addresses: of the object that is thrown, and of its `std::type_info`, which the
Itanium C++ ABI lays out the same everywhere: https://itanium-cxx-abi.github.io/cxx-abi/abi.html#rtti-layout.
"""

import re
import signal
from collections.abc import Generator, Mapping
from types import MappingProxyType
from typing import ClassVar

from trio_debugmcp.dap.messages import Stopped
from trio_debugmcp.dap.profiles.native.rust_panics import is_panic
from trio_debugmcp.dap.profiles.thrown import SIGNAL, Look, Thrown, ThrownDescription

_MAX_BASES = 16
"""Ancestors of an exception's type that are looked at; each costs a few evaluations."""

_HAVE_MESSAGE = frozenset({"std::runtime_error", "std::logic_error"})
"""Types whose objects hold their message behind the pointer to their virtual functions."""

_UNNAMED = "gdb does not know which; behind valgrind it is an error that its own output describes"
"""Of a signal that the server at a port reports without its details."""

_CSTRING = re.compile(r'"(?P<text>(?:[^"\\]|\\.)*)"')
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_TERMINATED = re.compile(
    r"terminate called after throwing an instance of '(?P<type>[^\n]*)'(?:\r?\n  what\(\):  (?P<message>[^\r\n]*))?"
)
_ASSERTION = re.compile(r"^[^\n]*?(?P<place>[^\s:]+:\d+): [^\n]*: (?P<message>Assertion [^\n]* failed\.)", re.MULTILINE)
_PANIC_OF_ZIG = re.compile(
    r"^(?:thread \d+ )?panic: (?P<message>[^\n]*)(?=\r?\n[^\n]*(?:\.zig:\d+:\d+: 0x|trace|context))", re.MULTILINE
)
"""What Zig's runtime writes before it aborts the program, with the stack behind it."""

_BUILTIN = {
    "b": "bool", "c": "char", "d": "double", "f": "float", "i": "int", "j": "unsigned int", "l": "long",
    "m": "unsigned long", "x": "long long", "y": "unsigned long long", "PKc": "char const*", "Pc": "char*",
}  # fmt: skip
"""Types that are not classes, and may be thrown all the same, as the ABI encodes them."""


class NativeThrown(Thrown):
    """Exceptions at a stop of gdb or lldb.

    Args:
        thrown: expressions for the addresses of the object and of its type at `__cxa_throw`.
        panics: names of the function in which Rust raises a panic.
        ends: names of functions by which the runtime of Fortran or Ada ends a program for an error.
        functions: by suffixes of other languages, the function of the runtime that raises their exceptions.
        errors: names of functions by which a function of Zig returns an error → the condition for one that ends it.
        described: the expression for what that error is.
    """

    reads_types: ClassVar[bool] = True
    reports_once: ClassVar[bool] = True  # a panic; of C++ what is thrown is never reported as one that nothing catches

    def __init__(
        self,
        thrown: tuple[str, str],
        panics: tuple[str, ...] = (),
        ends: tuple[str, ...] = (),
        functions: Mapping[str, str] = MappingProxyType({}),
        errors: Mapping[str, str] = MappingProxyType({}),
        described: str = "",
    ) -> None:
        self.raised_in = (*panics, *ends, *errors)
        self.raised_if = errors
        self._described = described
        self.thrown_by = functions
        self._ends = frozenset(ends)
        self._object, self._type = thrown
        found = re.match(r"/\w+ ", self._object)  # CodeLLDB has several languages
        self._language = found[0] if found else ""

    def signal(self, stopped: Stopped) -> str | None:
        if stopped.reason in ("signal", "stopped"):  # gdb's; the second is for SIGTRAP, of which it gives no reason
            return ""
        return super().signal(stopped)

    def ends_in(self, stopped: Stopped, signal: str, output: str) -> Look:
        found = SIGNAL.match(stopped.description or stopped.text or "")
        message = found[2] if found else None
        if not signal:
            signal, message = yield from _signal_of_gdb()
            message = message if signal else _UNNAMED
        if signal == "SIGABRT":
            patterns = (_TERMINATED, _ASSERTION, _PANIC_OF_ZIG)
            matches = [match for pattern in patterns for match in pattern.finditer(output)]
            last = max(matches, key=lambda match: match.start(), default=None)
            if last is not None and last.re is _PANIC_OF_ZIG:
                return ThrownDescription("panic", last["message"].rstrip("\r"))
            if last is not None and last.re is _TERMINATED:
                return ThrownDescription(last["type"], last["message"])
            if last is not None:
                return ThrownDescription(signal, f"{last['message']} ({last['place']})")
        return ThrownDescription(signal or "signal", message)

    def raises(self, function: str) -> bool:
        return function in ("__cxa_throw", "__cxa_rethrow")

    def is_panic(self, function: str) -> bool:
        return is_panic(function)

    def ending(self, function: str) -> Look:
        if function in self.raised_if:
            kind, _, message = (_text((yield self._described)) or "error").partition(": ")
            return ThrownDescription(kind, message or None, (kind,), "unhandled")
        if function not in self._ends:
            return None
        by_ada = "Ada exception" if function.startswith("__gnat") else "Fortran runtime error"
        kind = "error stop" if "error_stop" in function else by_ada
        return ThrownDescription(kind, None, (kind,), "unhandled")

    def is_again(self, function: str) -> bool:
        # lldb stops here, too; and the runtime throws once more what nothing catches, to print its message.
        return function == "__cxa_rethrow"

    def exception(self) -> Look:
        # The registers are read alone: lldb writes those back that a longer expression names.
        type_info, thrown = _number((yield self._type)), _number((yield self._object))
        lineage = (yield from self._asked(_lineage(type_info))) if type_info else ()
        if not lineage:
            return None
        message = None
        if thrown and not _HAVE_MESSAGE.isdisjoint(lineage):
            message = _text((yield f"{self._language}*(char**){thrown + 8}"))
        return ThrownDescription(lineage[0], message, lineage)

    def _asked(self, look: Generator[str, str | None, tuple[str, ...]]) -> Generator[str, str | None, tuple[str, ...]]:
        """Ask for the same in the language of the debugger."""
        try:
            expression = next(look)
            while True:
                value = yield f"{self._language}{expression}"
                expression = look.send(value)
        except StopIteration as found:
            result: tuple[str, ...] = found.value
            return result


def _signal_of_gdb() -> Generator[str, str | None, tuple[str, str | None]]:
    number = yield "$_siginfo.si_signo"
    of = "." if number is not None else "%"  # in a frame of Fortran
    if number is None:
        number = yield "$_siginfo%si_signo"
    try:
        which = signal.Signals(int(number or ""))
    except ValueError:
        return "", None
    what = signal.strsignal(which)
    if which in (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE):
        address = _ADDRESS.search((yield f"$_siginfo{of}_sifields{of}_sigfault{of}si_addr") or "")
        what = f"{what} (address {address[0]})" if address else what
    return which.name, what


def _lineage(type_info: int) -> Generator[str, str | None, tuple[str, ...]]:
    """Walk from a type to its bases: the nearest first, of several bases in their order."""
    names: list[str] = []
    pending = [type_info]
    for _ in range(_MAX_BASES):  # memory that is overwritten may lead in a circle
        if not pending:
            break
        class_info = pending.pop(0)
        mangled = _text((yield f"*(char**){class_info + 8}"))
        if mangled is None:
            break
        name = demangled(mangled.removeprefix("*"))
        if name not in names:
            names.append(name)
        # What kind of class it is says the type of its own type_info object.
        kind = _text((yield f"*(char**)(*(long*)(*(long*){class_info}-8)+8)")) or ""
        if "__si_class_type_info" in kind:
            bases = [class_info + 16]
        elif "__vmi_class_type_info" in kind:
            count = _number((yield f"*(unsigned int*){class_info + 20}"))
            bases = [class_info + 24 + 16 * index for index in range(min(count, _MAX_BASES))]
        else:
            bases = []
        for base in bases:
            address = _number((yield f"*(long*){base}"))
            if address:
                pending.append(address)
    return tuple(names)


def _text(value: str | None) -> str | None:
    """The characters in a value of type char*, as debuggers show it: `0x5559160 "10OutOfStock"`."""
    found = _CSTRING.search(value or "")
    return None if found is None else re.sub(r"\\(.)", r"\1", found["text"])


def _number(value: str | None) -> int:
    try:
        return int((value or "0").split()[0], 0)
    except (ValueError, IndexError):
        return 0


def demangled(name: str) -> str:
    """The name of a type from its mangled one, as far as it has no template arguments: others stay as they are.

    `10OutOfStock` is OutOfStock, `St13runtime_error` std::runtime_error, `N4shop5ErrorE` shop::Error.
    """
    if name in _BUILTIN:
        return _BUILTIN[name]
    rest, parts = name, []
    if rest.startswith("N") and rest.endswith("E"):
        rest = rest[1:-1]
    if rest.startswith("St"):
        parts, rest = ["std"], rest[2:]
    while rest:
        found = re.match(r"(B?)(\d+)", rest)
        if found is None:
            return name
        end = found.end() + int(found[2])
        word, rest = rest[found.end() : end], rest[end:]
        if not found[1]:  # else an ABI tag, as in `N…7failureB5cxx11E`
            parts.append("(anonymous namespace)" if word.startswith("_GLOBAL__N") else word)
    return "::".join(parts) if parts else name
