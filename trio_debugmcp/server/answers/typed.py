"""Types with their members, symbols and references as strings: `(product, count=1) Basket till.py:9`."""

from collections.abc import Callable

from trio_debugmcp.server.answers.answer import AnswerData
from trio_debugmcp.server.answers.places import LIBRARY, Places
from trio_debugmcp.session.looking.by_probe.type_descriptions import DescribedType, Inbound, Outbound, Symbol
from trio_debugmcp.state.payloads import Location, Payload

_ASYNC = "async "

ClassLine = Callable[[str, str], int | None]
"""The line of a class by its file and its name, as far as the source tells."""


class MemberPayload(Payload, frozen=True):
    """A member of a type: its signature, type or value as `value`, and the class that passes it on, if that is another.

    `kind`: fields, properties, methods, classMethods, staticMethods or attributes.
    """

    name: str
    kind: str
    value: str
    of: str | None
    file: str | None
    line: int | None


class TypeData(AnswerData, frozen=True, kw_only=True):
    """A type, with the first of `total` members, or a function with its signature. `size`: bytes of an instance.

    `inherited`: how many members library classes pass on that are not listed.
    """

    type: str
    file: str | None
    line: int | None
    is_user_code: bool
    is_function: bool
    signature: str
    doc: str
    bases: list[str]
    mro: list[str]
    metaclass: str
    size: int
    item_size: int
    members: list[MemberPayload]
    inherited: dict[str, int]
    total: int


class SymbolPayload(Payload, frozen=True):
    """A type, or a function with its signature."""

    name: str
    is_type: bool
    signature: str
    file: str | None
    line: int | None
    is_user_code: bool


class SymbolsData(AnswerData, frozen=True, kw_only=True):
    """A page of `total` symbols."""

    symbols: list[SymbolPayload]
    total: int


class InboundPayload(Payload, frozen=True):
    """What refers to an object. `way`: from the holder, `of`, to the object; null: a variable itself is the holder.

    `path` leads to the object, `under` to where the way cannot be followed by an expression. Both begin with a
    `variable`: a global of `module`, or a local of the frame with that index, of a thread or a task.
    """

    way: str
    of: str | None
    type: str | None
    path: str | None
    under: str | None
    variable: str | None
    module: str | None
    frame_index: int | None
    thread_id: int | None
    task: str | None
    location: Location | None


class OutboundPayload(Payload, frozen=True):
    """What an object refers to, and by which way."""

    way: str
    value: str


class ReferencesData(AnswerData, frozen=True, kw_only=True):
    """What refers to an object and what it refers to: the first of as many as the totals say.

    `instances`: of a class, which all refer to it, are counted only.
    """

    value: str
    type: str
    inbound: list[InboundPayload]
    inbound_total: int
    instances: int
    outbound: list[OutboundPayload]
    outbound_total: int


def type_data(found: DescribedType, line_of: ClassLine) -> TypeData:
    """Return a type as data."""
    line = found.line or None
    if found.file and not found.function:
        line = (None if found.library else line_of(found.file, found.qualname)) or line
    members = [
        MemberPayload(
            member.name, member.kind, member.text, member.of or None, member.file or None, member.line or None
        )
        for member in found.members
    ]
    return TypeData(
        type=found.name,
        file=found.file or None,
        line=line,
        is_user_code=not found.library,
        is_function=found.function,
        signature=found.signature,
        doc=found.doc,
        bases=list(found.bases),
        mro=list(found.mro),
        metaclass=found.metaclass,
        size=found.size,
        item_size=found.item_size,
        members=members,
        inherited=found.inherited,
        total=found.total,
    )


def type_place(places: Places, found: TypeData) -> str | None:
    """Return the place where a type or a function is defined."""
    if found.file is None:
        return None
    return places.line(found.file, found.line) + ("" if found.is_user_code else LIBRARY)


def members_of(places: Places, found: TypeData) -> dict[str, dict[str, str]]:
    """Return the members by kind and name. A file is named where it is not that of the type."""
    kinds: dict[str, dict[str, str]] = {}
    for member in found.members:
        kinds.setdefault(member.kind, {})[member.name] = _member(places, member, found.file)
    return kinds


def _member(places: Places, member: MemberPayload, file: str | None) -> str:
    place = places.line(None if member.file == file else member.file, member.line) if member.line else ""
    return " ".join(each for each in (member.value, member.of, place) if each)


def symbol_payload(symbol: Symbol, line_of: ClassLine) -> SymbolPayload:
    """Return a symbol as data."""
    line: int | None = symbol.line or None
    if symbol.type and not symbol.library and symbol.file:
        line = line_of(symbol.file, symbol.qualname) or line
    return SymbolPayload(symbol.name, symbol.type, symbol.signature, symbol.file or None, line, not symbol.library)


def symbol_line(places: Places, symbol: SymbolPayload) -> str:
    """Return the line of a symbol: `shop.till.Basket till.py:3`."""
    place = "" if symbol.file is None else places.line(symbol.file, symbol.line)
    is_async = symbol.signature.startswith(_ASYNC)
    words = [_ASYNC.strip() if is_async else "", symbol.name + symbol.signature.removeprefix(_ASYNC), place]
    return " ".join(word for word in words if word) + ("" if symbol.is_user_code else LIBRARY)


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
    if found.task is not None:
        return f"{words}, task {found.task}"
    return words if found.thread == thread_id else f"{words}, thread {found.thread} {found.thread_name}"


def inbound_payload(found: Inbound) -> InboundPayload:
    """Return what refers to an object as data."""
    return InboundPayload(
        way=found.way,
        of=found.of or None,
        type=found.type or None,
        path=found.path or None,
        under=found.under or None,
        variable=found.name or None,
        module=found.module,
        frame_index=found.index if found.local else None,
        thread_id=(found.thread or None) if found.local else None,
        task=found.task,
        location=Location(found.file, found.line, None, found.function, None) if found.local else None,
    )


def outbound_line(found: Outbound) -> str:
    """Return `.owner: 'ben'`."""
    return f"{found.way}: {found.value}"
