"""Expressions as gdb reads them: it has no index for a `Vec` of Rust, and finds variables of any file. Pure.

meanings.item("shop.items[1].price", "shop.items", "alloc::vec::Vec<Item, …>").length      # "shop.items.len"
"""

import re
from typing import ClassVar

from trio_debugmcp.dap.profiles.adapter_values import IndexedItem, Meanings, NameOrigin
from trio_debugmcp.dap.profiles.native.machine_code import NativeValues

_VECTOR = re.compile(r"(?:\*mut )?alloc::vec::Vec<(?P<item>.+), alloc::alloc::Global>")

_POINTER = "buf.inner.ptr.pointer.pointer"


_HEADERS = (".h", ".hh", ".hpp", ".hxx")

_OF_C = (".c", ".cc", ".cpp", ".cxx", ".c++", *_HEADERS)

_NAME = re.compile(r"[\s*&(]*(?P<name>[A-Za-z_]\w*)(?!\w|\s*(?:\(|::))")

_ORIGIN = (
    "python [print(s.name, s.symtab.fullname(), s.line, len(gdb.lookup_static_symbols(s.name)), sep='\\t') "
    "for s in gdb.lookup_symbol('{name}')[:1] "
    "if s and s.symtab and s.addr_class == gdb.SYMBOL_LOC_STATIC]"
)
"""gdb takes a static variable of any file for what the frame's file does not have."""


class GdbMeanings(Meanings):
    """A `Vec` and a reference to one are indexed by what has bounds: a number, or the path of a variable."""

    def item(self, expression: str, holder: str, kind: str | None) -> IndexedItem | None:
        vector = _VECTOR.fullmatch(kind or "")
        indexed = re.search(rf"(?<![\w.]){re.escape(holder)}\s*\[\s*(?P<index>\w+(?:\.\w+)*)\s*\]", expression)
        if vector is None or indexed is None:
            return None
        spelled = f"(*(({holder}.{_POINTER} as *mut {vector['item']}) + {indexed['index']}))"
        whole = f"{expression[: indexed.start()]}{spelled}{expression[indexed.end() :]}"
        return IndexedItem(whole, indexed["index"], f"{holder}.len")

    def origin_command(self, expression: str, file: str) -> str | None:
        found = _NAME.match(expression) if file.endswith(_OF_C) else None
        return None if found is None else _ORIGIN.replace("{name}", found["name"])

    def origin(self, answer: str) -> NameOrigin | None:
        parts = answer.strip().split("\t")
        if len(parts) != 4 or not (parts[2].isdecimal() and parts[3].isdecimal()) or parts[1].endswith(_HEADERS):
            return None  # what a header has is of each file that includes it
        return NameOrigin(parts[0], parts[1], int(parts[2]), max(0, int(parts[3]) - 1))


class GdbValues(NativeValues):
    """Values of a program under gdb."""

    meanings: ClassVar[Meanings] = GdbMeanings()
