"""What gdb and lldb print of a type, as fields with their types, offsets and sizes. Pure.

    parsed_type(text).fields[0]     # NativeField("number", "int", offset=0, size=4)

gdb's `ptype /o` has offsets and sizes, lldb's `image lookup -t` has neither, but where the type is declared.
"""

import re

from msgspec import Struct

_HEAD = re.compile(
    r"(?:const |volatile )*(?:struct|class|union|enum)\b ?(?:class )?"
    r"(?P<name>[^{}\n]*?)(?: ?: (?P<bases>[^{}\n]*?))? ?\{$"
)
_SIMPLE = re.compile(r"^(?:/\*[^{}\n]*\*/ +)?type = ([^{}\n]+)$", re.MULTILINE)
_LINE = re.compile(r"(?:/\*\s*(?:(?P<offset>\d+)(?:: ?\d+)?\s*\|\s*)?(?P<size>\d+)?\s*\*/)?\s*(?P<text>.*)")
"""A line of gdb's or lldb's; of what is in a union gdb prints the size alone."""

_TOTAL = re.compile(r"/\* total size(?: \(bytes\))?: +(\d+)(?: bytes)? \*/")
_LLDB = re.compile(
    r'name = "(?P<name>[^"]*)"(?:, qualified = "(?P<whole>[^"]*)")?(?:.*?byte-size = (?P<size>\d+))?'
    r"(?:.*?decl = (?P<file>[^\n]*?):(?P<line>\d+))?"
)
_DECLARED = re.compile(r"(?P<type>.*?)(?P<name>\w+)(?P<more>(?:\[\d*\])*(?: ?: ?\d+)?)")
_CONTAINER = re.compile(r"(std::(?:vector|deque|list|forward_list))<(.*\S)\s*>")
"""A container whose second argument is the allocator, which is left out where it is the usual one."""

_ACCESS = re.compile(r"(?:public|private|protected|virtual) ")


class NativeField(Struct, frozen=True):
    """A field of a structure; `offset` and `size` in bytes, where the debugger prints them."""

    name: str
    type: str
    offset: int | None = None
    size: int | None = None


class NativeType(Struct, frozen=True):
    """A type as a debugger prints it."""

    name: str
    size: int = 0
    bases: tuple[str, ...] = ()
    fields: tuple[NativeField, ...] = ()
    methods: tuple[str, ...] = ()
    file: str = ""
    line: int = 0


def parsed_type(text: str) -> NativeType | None:
    """Return the type that a debugger has printed, or None if there is none in the text."""
    lldb = _LLDB.search(text)
    name, bases, size, fields, methods = _structure(text.rstrip().removesuffix('"'))
    if lldb is not None:
        place = {"file": lldb["file"] or "", "line": int(lldb["line"] or 0)}
        return NativeType(lldb["whole"] or lldb["name"], int(lldb["size"] or 0), bases, fields, methods, **place)  # type: ignore[arg-type]
    if name:
        return NativeType(name, size, bases, fields, methods)
    simple = _SIMPLE.search(text)
    return None if simple is None else NativeType(simple[1].strip())


def with_allocator(name: str) -> str | None:
    """Return the name of a container in full, `std::vector<int, std::allocator<int> >`; None if that is another type.

    The debuggers print such a type without its allocator, and then do not find it by what they have printed.
    """
    found = _CONTAINER.fullmatch(name.strip())
    if found is None or len(_apart(found[2])) != 1:
        return None
    item = found[2]
    inner = f"std::allocator<{item}{' ' if item.endswith('>') else ''}>"
    return f"{found[1]}<{item}, {inner} >"


def _structure(text: str) -> tuple[str, tuple[str, ...], int, tuple[NativeField, ...], tuple[str, ...]]:
    """Read the outermost structure: name, bases, size, fields and methods. Structures within are fields."""
    name, bases, size = "", "", 0
    fields: list[NativeField] = []
    methods: list[str] = []
    open_: list[tuple[str, int | None, int | None]] = []
    for line in text.splitlines():
        total = _TOTAL.search(line)
        if total is not None:
            size = int(total[1])  # the last one is that of the outermost
            continue
        found = _LINE.fullmatch(line.strip())
        if found is None:
            continue
        words, offset, length = found["text"].strip(), _number(found["offset"]), _number(found["size"])
        head = _HEAD.search(words)
        if head is not None:
            if not open_:
                name, bases = head["name"].strip(), head["bases"] or ""
            open_.append((head["name"].strip(), offset, length))
        elif words.startswith("}") and open_:
            kind, offset, length = open_.pop()
            if len(open_) == 1:
                fields.append(_field(f"{kind} {words.strip('} ;')}", offset, length))
        elif len(open_) == 1 and words.endswith(";") and not words.startswith(("typedef ", "using ")):
            if words.endswith((")", ");", ") const;", "delete;", "default;")) and "(*" not in words:
                methods.append(words.rstrip(";"))
            else:
                fields.append(_field(words.rstrip(";"), offset, length))
    kinds = tuple(_ACCESS.sub("", base).strip() for base in _apart(bases))
    return name, kinds, size, tuple(fields), tuple(methods)


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)


def _field(text: str, offset: int | None, size: int | None) -> NativeField:
    found = _DECLARED.fullmatch(text.strip())
    if found is None or not found["type"].strip():
        return NativeField(text.strip(), "", offset, size)
    return NativeField(found["name"], (found["type"].strip() + found["more"]).strip(), offset, size)


def _apart(bases: str) -> list[str]:
    """The bases of a class; commas between angle brackets are theirs."""
    found, depth, begin = [], 0, 0
    for index, letter in enumerate(bases):
        depth += (letter == "<") - (letter == ">")
        if letter == "," and not depth:
            found.append(bases[begin:index])
            begin = index + 1
    return [base for base in (*found, bases[begin:]) if base.strip()]
