"""Values as gdb alone shows them: it has no index for a `Vec` of Rust, whose items are spelled as memory. Pure.

GdbValues().item("shop.items[1].price", "shop.items", "alloc::vec::Vec<shop::Item, alloc::alloc::Global>")
# IndexedItem("(*((shop.items.buf.inner.ptr.pointer.pointer as *mut shop::Item) + 1)).price", "1", "shop.items.len")
"""

import re

from trio_debugmcp.dap.profiles.adapter_values import IndexedItem
from trio_debugmcp.dap.profiles.native.machine_code import NativeValues

_VECTOR = re.compile(r"(?:\*mut )?alloc::vec::Vec<(?P<item>.+), alloc::alloc::Global>")

_POINTER = "buf.inner.ptr.pointer.pointer"


class GdbValues(NativeValues):
    """A `Vec` and a reference to one are indexed by what has bounds: a number, or the path of a variable."""

    def item(self, expression: str, holder: str, kind: str | None) -> IndexedItem | None:
        vector = _VECTOR.fullmatch(kind or "")
        indexed = re.search(rf"(?<![\w.]){re.escape(holder)}\s*\[\s*(?P<index>\w+(?:\.\w+)*)\s*\]", expression)
        if vector is None or indexed is None:
            return None
        spelled = f"(*(({holder}.{_POINTER} as *mut {vector['item']}) + {indexed['index']}))"
        whole = f"{expression[: indexed.start()]}{spelled}{expression[indexed.end() :]}"
        return IndexedItem(whole, indexed["index"], f"{holder}.len")
