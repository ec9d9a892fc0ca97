"""Types with their members, symbols and references as strings: `(product, count=1) Basket till.py:9`."""

from collections.abc import Callable, Iterable

from trio_debugmcp.server.answers.places import LIBRARY, Places
from trio_debugmcp.session.looking.type_descriptions import DescribedType, Inbound, Member, Outbound, Symbol

_ASYNC = "async "

ClassLine = Callable[[str, str], int | None]
"""The line of a class by its file and its name, as far as the source tells."""


def type_place(places: Places, found: DescribedType, line_of: ClassLine) -> str | None:
    """Return the place where a type or a function is defined."""
    if not found.file:
        return None
    line = found.line or None
    if not found.function:
        line = (None if found.library else line_of(found.file, found.qualname)) or line
    return places.line(found.file, line) + (LIBRARY if found.library else "")


def members_of(places: Places, found: DescribedType) -> dict[str, dict[str, str]]:
    """Return the members by kind and name. A file is named where it is not that of the type."""
    kinds: dict[str, dict[str, str]] = {}
    for each in found.members:
        kinds.setdefault(each.kind, {})[each.name] = _member(places, each, found.file)
    return kinds


def _member(places: Places, member: Member, file: str) -> str:
    place = places.line(None if member.file == file else member.file, member.line) if member.line else ""
    return " ".join(each for each in (member.text, member.of, place) if each)


def symbol_lines(places: Places, symbols: Iterable[Symbol], line_of: ClassLine) -> Iterable[tuple[bool, str]]:
    """Yield whether each symbol is a type, and its line: `shop.till.Basket till.py:3`."""
    for each in symbols:
        line: int | None = each.line or None
        if each.type and not each.library and each.file:
            line = line_of(each.file, each.qualname) or line
        place = places.line(each.file, line) if each.file else ""
        is_async = each.signature.startswith(_ASYNC)
        words = [_ASYNC.strip() if is_async else "", each.name + each.signature.removeprefix(_ASYNC), place]
        yield each.type, " ".join(word for word in words if word) + (LIBRARY if each.library else "")


def inbound_line(places: Places, found: Inbound, thread_id: int | None) -> str:
    """Return `.basket of Order(...): orders[0].basket`: the way, the holder, and where that is, as far as is known."""
    variable = _variable(places, found, thread_id)
    if not found.of:
        return f"`{found.path or found.name}`, {variable}"
    line = f"{found.way} of {found.of}"
    if found.path:
        return f"{line}: `{found.path}`, {variable}"
    return f"{line}, under `{found.under}`, {variable}" if found.under else line


def _variable(places: Places, found: Inbound, thread_id: int | None) -> str:
    """What an expression begins with."""
    if not found.local:
        return f"global of {found.module}"
    words = "local in " + " ".join((found.function, places.line(found.file, found.line)))
    words += f", frame {found.index}" if found.index else ""
    return words if found.thread == thread_id else f"{words}, thread {found.thread} {found.thread_name}"


def outbound_line(found: Outbound) -> str:
    """Return `.owner: 'ben'`."""
    return f"{found.way}: {found.value}"
