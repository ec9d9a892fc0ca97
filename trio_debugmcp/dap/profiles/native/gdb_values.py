"""Expressions as gdb reads them: it has no index for a `Vec` or a map, and finds variables of any file. Pure.

meanings.item("shop.items[1].price", "shop.items", "alloc::vec::Vec<Item, …>").length       # "shop.items.len"
meanings.item('counts["fig"]', "counts", "std::map<…>").expression                          # '$_item(counts, "fig")'
"""

import re
from collections.abc import Sequence
from typing import ClassVar

from trio_debugmcp.dap.profiles.adapter_values import IndexedItem, Meanings, NameOrigin
from trio_debugmcp.dap.profiles.native.machine_code import NativeValues, indexed_parts

_VECTOR = re.compile(r"(?:\*mut )?alloc::vec::Vec<(?P<item>.+), alloc::alloc::Global>")

_KEYED = re.compile(
    r"(?:const )?std::(?:\w+::)?(?:unordered_)?map<.+>(?: &)?"
    r"|(?:\*mut )?(?:std::collections::hash::map::HashMap|alloc::collections::\w+::(?:\w+::)?(?:BTreeMap|VecDeque))<.+>"
)
"""What gdb's printers alone know the items of: maps, and a queue of Rust."""

_KEY = re.compile(r"""\s*\[\s*&?(?P<key>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)'|-?\w+(?:(?:::|\.|->)\w+)*)\s*\]""")
"""A key that is a text, a number, or a variable or constant."""

_POINTER = "buf.inner.ptr.pointer.pointer"


_HEADERS = (".h", ".hh", ".hpp", ".hxx")

_OF_CPP = (".cc", ".cpp", ".cxx", ".c++", *_HEADERS)

OF_C = (".c", *_OF_CPP)
"""Suffixes of source files of C++, and of C and C++."""

_NAME = re.compile(r"[\s*&(]*(?P<name>[A-Za-z_]\w*)(?!\w|\s*(?:\(|::))")

_ORIGIN = (
    "python [print(s.name, s.symtab.fullname(), s.line, len(gdb.lookup_static_symbols(s.name)), sep='\\t') "
    "for s in gdb.lookup_symbol('{name}')[:1] "
    "if s and s.symtab and s.addr_class == gdb.SYMBOL_LOC_STATIC]"
)
"""gdb takes a static variable of any file for what the frame's file does not have."""


class GdbMeanings(Meanings):
    """A `Vec` and a reference to one are indexed by what has bounds: a number, or the path of a variable.

    A map is indexed by a key; in the language that is code of the program.
    """

    def item(self, expression: str, holder: str, kind: str | None) -> IndexedItem | None:
        vector = _VECTOR.fullmatch(kind or "")
        if vector is None and _KEYED.fullmatch(kind or "") is not None:
            return _keyed(expression, holder)
        indexed = re.search(rf"(?<![\w.]){re.escape(holder)}\s*\[\s*(?P<index>\w+(?:\.\w+)*)\s*\]", expression)
        if vector is None or indexed is None:
            return None
        spelled = f"(*(({holder}.{_POINTER} as *mut {vector['item']}) + {indexed['index']}))"
        brackets = indexed[0].removeprefix(holder)
        return IndexedItem(_with(expression, indexed, spelled), spelled, brackets, indexed["index"], f"{holder}.len")

    def origin_command(self, expression: str, file: str) -> str | None:
        found = _NAME.match(expression) if file.endswith(OF_C) else None
        return None if found is None else _ORIGIN.replace("{name}", found["name"])

    def origin(self, answer: str) -> NameOrigin | None:
        parts = answer.strip().split("\t")
        if len(parts) != 4 or not (parts[2].isdecimal() and parts[3].isdecimal()) or parts[1].endswith(_HEADERS):
            return None  # what a header has is of each file that includes it
        return NameOrigin(parts[0], parts[1], int(parts[2]), max(0, int(parts[3]) - 1))


def _keyed(expression: str, holder: str) -> IndexedItem | None:
    found = re.search(rf"(?<![\w.:])(?<!->){re.escape(holder)}{_KEY.pattern}", expression)
    if found is None:
        return None
    spelled = f"$_item({holder}, {found['key']})"
    return IndexedItem(_with(expression, found, spelled), spelled, found[0].removeprefix(holder))


def _with(expression: str, found: re.Match[str], spelled: str) -> str:
    return f"{expression[: found.start()]}{spelled}{expression[found.end() :]}"


class GdbValues(NativeValues):
    """Values of a program under gdb."""

    meanings: ClassVar[Meanings] = GdbMeanings()

    def indexed(self, expression: str, file: str | None) -> Sequence[str]:
        return indexed_parts(expression) if (file or "").endswith((".rs", *_OF_CPP)) else ()

    def index_problem(self, kind: str | None) -> str | None:
        return None if (kind or "").endswith(("*", "&")) else super().index_problem(kind)  # gdb has Rust's in front
