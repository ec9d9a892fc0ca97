"""How LLDB shows values of Rust: texts, vectors, enums and the sizes of maps. LLDB's own Python runs this, from 3.8 on.

    command script import ".../lldb_rust_values.py"

The printers that Rust is installed with never end at a variable that its line has yet to make, whose memory has any
values. These read a bounded number of bytes, items and levels, whatever the memory says. What remains unclear is left
to LLDB, which shows the memory.
"""

import json
import re
import sys
from typing import Any, Callable, Dict, List, Optional

_MOST_BYTES = 1000
_MOST_ITEMS = 10
_MOST_INNER_ITEMS = 3
_MOST_LEVELS = 3

_NO_ADDRESS = 2**64 - 1
_LOWER = 2**32 - 1

_VARIANT = re.compile(r"(\w+)\$Variant$")
_HIGH_BIT = re.compile(r"NoHighBit$|::Cap$")
"""Types of integers below 2**63: what is above stands for variants of an enum around them."""

_NOT_ZERO = re.compile(r"^core::num::nonzero::NonZero")


def __lldb_init_module(debugger: Any, _names: Any) -> None:  # LLDB's name
    for pattern in _SHOWN:
        debugger.HandleCommand(f'type summary add -w Rust -x "{pattern}" -F {__name__}.summary')
    enums = f"--recognizer-function {__name__}.is_enum"
    debugger.HandleCommand(f"type summary add -w Rust {enums} -F {__name__}.summary")
    debugger.HandleCommand("type category enable Rust")


def is_enum(kind: Any, _names: Any = None) -> bool:
    """Whether this is the type of an enum whose variants have fields."""
    return bool(kind.GetNumberOfFields() == 1 and kind.GetFieldAtIndex(0).GetName() == "$variants$")


def summary(value: Any, _names: Any = None) -> str:
    """Return the text for a value of a type that is listed below; empty for what LLDB shows itself."""
    return _special(value.GetNonSyntheticValue(), 0) or ""


def _special(value: Any, level: int) -> Optional[str]:
    kind = value.GetType()
    pointed = kind.GetPointeeType() if kind.IsPointerType() or kind.IsReferenceType() else kind
    if is_enum(pointed):
        return _variant(value, level)
    name = pointed.GetName() or ""
    return next((show(value, level) for pattern, show in _SHOWN.items() if re.search(pattern, name)), None)


def _shown(value: Any, level: int) -> str:
    """Return the text of what a vector or a variant holds."""
    if level > _MOST_LEVELS:
        return "…"
    kind = value.GetType()
    text = None if kind.IsPointerType() and not value.GetValueAsUnsigned() else _special(value, level)
    if text is not None:
        return text
    name = kind.GetName() or ""
    plain = _plain(value, name)
    return re.sub(r"\W.*|.*::", "", name.partition("<")[0]) + _fields(value, level) if plain is None else plain


def _plain(value: Any, name: str) -> Optional[str]:
    """Return a number, a character or the like, as Rust writes it; None for what has fields."""
    if name in ("unsigned char", "u8"):
        return str(value.GetValueAsUnsigned())
    if name in ("signed char", "i8"):
        return str(value.GetValueAsSigned())
    if name in ("char", "char32_t") and value.GetValueAsUnsigned() <= sys.maxunicode:
        return repr(chr(value.GetValueAsUnsigned()))
    return None if value.GetValue() is None else str(value.GetValue())


def _fields(value: Any, level: int) -> str:
    fields = [value.GetChildAtIndex(number) for number in range(min(value.GetNumChildren(), _MOST_ITEMS))]
    parts = [
        ("" if field.GetName().startswith("__") else f"{field.GetName()}=") + _shown(field, level + 1)
        for field in fields
    ]
    parts += ["…"] * (value.GetNumChildren() > len(fields))
    return f"({', '.join(parts)})" if parts else ""


# --- Enums ------------------------------------------------------------------------------------------------------------


def _variant(value: Any, level: int) -> Optional[str]:
    chosen = _chosen(value.GetChildMemberWithName("$variants$"))
    name = chosen and _VARIANT.search(chosen.GetType().GetName() or "")
    return name[1] + _fields(chosen.GetChildMemberWithName("value"), level) if chosen and name else None


def _chosen(variants: Any) -> Any:
    """Return the variant that a value is; None where its number does not tell.

    LLDB 19 calls each `$variant$N` by the lower half of its number. The one without a number, `$variant$`, is what all
    other numbers mean: its own data is where the number stands.
    """
    every = [variants.GetChildAtIndex(index) for index in range(variants.GetNumChildren())]
    numbered = [each for each in every if each.GetChildMemberWithName("$discr$").IsValid()]
    others = [each for each in every if not each.GetChildMemberWithName("$discr$").IsValid()]
    if not numbered or len(others) > 1:
        return others[0] if len(every) == 1 else None
    place = numbered[0].GetChildMemberWithName("$discr$")
    if place.GetByteSize() > 8:
        return None
    number = place.GetValueAsUnsigned() & (1 << 8 * place.GetByteSize()) - 1
    numbers = (number, number & _LOWER, place.GetValueAsSigned() & _LOWER)
    fits = [each for each in numbered if each.GetName() in [f"$variant${each}" for each in numbers]]
    if len(fits) != 1 or not others:
        return fits[0] if len(fits) == 1 else others[0] if others and not fits else None
    if place.GetByteSize() <= 4 or (number > _LOWER and fits[0].GetName() == f"$variant${number}"):
        return fits[0]
    half = _upper_half(others[0].GetChildMemberWithName("value"), place.GetLoadAddress(), 0)
    return None if half is None else fits[0] if number >> 32 == half else others[0]


def _upper_half(value: Any, address: int, level: int) -> Optional[int]:
    """Return the upper half of numbers for variants, by what else stands at this address: a pointer, or a capacity."""
    name = value.GetType().GetName() or ""
    if value.GetType().IsPointerType() or _NOT_ZERO.search(name):
        return 0
    if _HIGH_BIT.search(name):
        return 0x80000000
    if level > 12 or address == _NO_ADDRESS:
        return None
    children = (value.GetChildAtIndex(number) for number in range(value.GetNumChildren()))
    found = (_upper_half(each, address, level + 1) for each in children if each.GetLoadAddress() == address)
    return next((half for half in found if half is not None), None)


# --- What the library has ---------------------------------------------------------------------------------------------


def _member(value: Any, *names: str) -> Any:
    for name in names:
        value = value.GetChildMemberWithName(name)
    return value


def _pointer(buffer: Any) -> Any:
    """Return the pointer in a buffer, whose layers are not the same in all versions of Rust."""
    for _ in range(8):
        if buffer.GetType().IsPointerType():
            break
        inner = (buffer.GetChildMemberWithName(name) for name in ("inner", "ptr", "pointer"))
        buffer = next((each for each in inner if each.IsValid()), buffer)
    return buffer


def _text(pointer: Any, length: int) -> str:
    read = bytes(pointer.GetPointeeData(0, min(length, _MOST_BYTES)).uint8) if length else b""
    if length and not read:
        return "<unreadable>"
    more = f" (+{length - _MOST_BYTES} bytes)" if length > _MOST_BYTES else ""
    return json.dumps(read.decode(errors="replace"), ensure_ascii=False) + more


def _items(value: Any, pointer: Any, kind: Any, length: int, level: int) -> str:
    """Return the first items of an array in memory, with their number where not all are shown."""
    if level >= _MOST_LEVELS:
        return f"[… {length}]" if length else "[]"
    shown: List[str] = []
    for number in range(min(length, _MOST_INNER_ITEMS if level else _MOST_ITEMS)):
        address = pointer.GetValueAsUnsigned() + number * kind.GetByteSize()
        item = value.CreateValueFromAddress(f"[{number}]", address, kind)
        if not item.IsValid() or item.GetData().GetByteSize() < kind.GetByteSize():
            return f"<unreadable> (size={length})"
        shown.append(_shown(item, level + 1))
    more = [f"… {length - len(shown)} more"] if length > len(shown) else []
    return f"[{', '.join(shown + more)}]"


def _string(value: Any, _level: int) -> str:
    vector = _member(value, "vec")
    return _text(_pointer(_member(vector, "buf")), _member(vector, "len").GetValueAsUnsigned())


def _borrowed_text(value: Any, _level: int) -> str:
    return _text(_member(value, "data_ptr"), _member(value, "length").GetValueAsUnsigned())


def _vector(value: Any, level: int) -> str:
    kind = value.GetType()
    held = (kind.GetPointeeType() if kind.IsPointerType() else kind).GetTemplateArgumentType(0)
    length = _member(value, "len").GetValueAsUnsigned()
    if not held.IsValid():
        return f"size={length}"
    return _items(value, _pointer(_member(value, "buf")), held, length, level)


def _slice(value: Any, level: int) -> str:
    pointer = _member(value, "data_ptr")
    length = _member(value, "length").GetValueAsUnsigned()
    return _items(value, pointer, pointer.GetType().GetPointeeType(), length, level)


def _sized(*path: str) -> Callable[[Any, int], Optional[str]]:
    def show(value: Any, _level: int) -> Optional[str]:
        size = _member(value, *path)
        return f"size={size.GetValueAsUnsigned()}" if size.IsValid() else None

    return show


def _counted(member: str) -> Callable[[Any, int], Optional[str]]:
    def show(value: Any, level: int) -> Optional[str]:
        held = _member(value, "ptr", "pointer", member)
        return _shown(held, level + 1) if held.IsValid() else None

    return show


_SHOWN: Dict[str, Callable[[Any, int], Optional[str]]] = {
    r"^alloc::string::String$": _string,
    r"^&(mut )?str$": _borrowed_text,
    r"^alloc::vec::Vec<.+>$": _vector,
    r"^&(mut )?\[.+\]$": _slice,
    r"^alloc::collections::vec_deque::VecDeque<.+>$": _sized("len"),
    r"^alloc::collections::btree::map::BTreeMap<.+>$": _sized("length"),
    r"^alloc::collections::btree::set::BTreeSet<.+>$": _sized("map", "length"),
    r"^std::collections::hash::map::HashMap<.+>$": _sized("base", "table", "table", "items"),
    r"^std::collections::hash::set::HashSet<.+>$": _sized("base", "map", "table", "table", "items"),
    r"^alloc::rc::Rc<.+>$": _counted("value"),
    r"^alloc::sync::Arc<.+>$": _counted("data"),
}
"""By patterns for the names of types, as LLDB reads them: what shows their values."""
