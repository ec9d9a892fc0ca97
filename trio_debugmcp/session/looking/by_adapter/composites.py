"""Values that an adapter shows without what is inside, or with placeholders: composed of their fields, one level deep.

gdb has no text at all for a structure, and lldb only its address; both have its fields as children.

    shown = await composed(requests, variable)      # value: `Item(name="pear", price=2, weights=[2 items])`

Also what is fetched below a value, level by level: how much of it, and which children are known.
"""

import re
from collections.abc import Sequence
from contextlib import closing, suppress
from typing import cast

from msgspec.structs import replace

from trio_debugmcp.dap.messages import DapVariable, EvaluateBody, VariablesBody
from trio_debugmcp.dap.profiles.adapter_values import AdapterValues, Reading
from trio_debugmcp.errors import AdapterRefused
from trio_debugmcp.session.requests import Requests

ADAPTER_SECONDS = 4.0
"""For all requests to an adapter; what is not there by then is left out, and counted where the adapter counts."""

MAX_NODES = 1000
"""Variables fetched by one call, including children: every parent costs the adapter a request."""

_NOT_RUN = "<property, not run>"

_MAX_FIELDS = 12
"""Fields or items that are shown of one value."""

_MAX_POINTERS = 6
"""Pointers in one value that are followed: each is a request."""

_READ_LENGTH = 600
"""Characters of a value in which pointers are followed; answers show fewer unless they are asked for more."""

_MAX_READS = 60
"""Requests for one value that is read from what is inside of it."""

MAX_COMPOSED = 20
"""Values that are composed at a time: each costs the adapter a request, of a reference two."""

_ADDRESS = re.compile(r"[^{}\[\],=]*?(?P<address>0x[0-9a-fA-F]{4,})")
"""That of a value itself; those in braces and brackets are of what is inside."""


def identity(variable: DapVariable) -> str:
    """Return what tells one object of a stop from another: its address and type, or its reference."""
    found = _ADDRESS.match(variable.value)
    return f"{variable.type} {found['address']}" if found is not None else f"{variable.variables_reference}"


def path_of(variable: DapVariable) -> str | None:
    """Return the path that an adapter gives a variable. js-debug has a private field as an item: `cart["#lines"]`."""
    path, item = variable.evaluate_name, f'["{variable.name}"]'
    if path is None or variable.hint("visibility") != "private" or not path.endswith(item):
        return path
    return f"{path.removesuffix(item)}.{variable.name}"


def path_below(variable: DapVariable, parent: str) -> str:
    """Return the path of a child; `parent` is that of what it is inside of."""
    if variable.evaluate_name:
        return variable.evaluate_name
    return f"{parent}{variable.name}" if variable.name.startswith("[") else f"{parent}.{variable.name}"


async def children(requests: Requests, reference: int, kind: str | None = None) -> list[DapVariable]:
    """Return the children behind a reference; 0 has none. What a C++ reference refers to is passed through."""
    if not reference:
        return []
    body = await requests.request("variables", {"variablesReference": reference}, VariablesBody)
    values, dialect = requests.profile.values, requests.profile.dialect
    found = [
        _as_shown(values, variable)
        for variable in body.variables or []
        if not dialect.hides(variable) and not requests.profile.habits.makes_up(variable.name)
    ]
    if len(found) == 1 and values.is_target(found[0].name, kind) and found[0].variables_reference:
        return await children(requests, found[0].variables_reference)
    return found


def _as_shown(values: AdapterValues, variable: DapVariable) -> DapVariable:
    """Return a child as answers show it: a getter as one that was not run, as code of the program may change things."""
    path = path_of(variable)
    if variable.lazy:
        return replace(variable, value=_NOT_RUN, type=None, evaluate_name=path, variables_reference=0)
    return replace(
        variable,
        value=values.shown(variable.value, variable.type),
        type=values.plain_type(variable.type),
        evaluate_name=path,
        variables_reference=0 if values.is_leaf(variable.value, variable.type) else variable.variables_reference,
    )


async def scope_children(requests: Requests, reference: int) -> list[DapVariable]:
    """Return the variables of a scope, of which some adapters have the program's own in a group."""
    found = await children(requests, reference)
    group = next((variable for variable in found if variable.name == requests.profile.habits.locals_in), None)
    return found if group is None else await children(requests, group.variables_reference)


async def composed(requests: Requests, variable: DapVariable) -> DapVariable:
    """Return a variable with a value that shows its fields, if it has some and the adapter's value has none.

    And what is behind pointers in it, as far as an answer shows that much of a value.
    """
    shown, unread = await _with_fields(requests, variable), requests.profile.values.placeholders.unread
    for _ in range(_MAX_POINTERS if unread is not None else 0):
        place = cast("re.Pattern[str]", unread).search(shown.value, 0, _READ_LENGTH)
        read = None if place is None else await _read_at(requests, place[0])
        if place is None or read is None:
            break
        shown = replace(shown, value=f"{shown.value[: place.start()]}{read}{shown.value[place.end() :]}")
    return shown


async def _read_at(requests: Requests, address: str) -> str | None:
    """Return the structure at the address that an expression of the adapter's stands for; None if it is not read."""
    arguments = {"expression": f"*{address}", "context": requests.profile.dialect.evaluate_context}
    try:
        body = await requests.request("evaluate", arguments, EvaluateBody)
    except AdapterRefused:
        return None
    return requests.profile.values.shown(body.result, body.type)


async def _with_fields(requests: Requests, variable: DapVariable) -> DapVariable:
    values = requests.profile.values
    name, value, kind = variable.name, variable.value, variable.type
    if variable.variables_reference and values.compositions.is_followed(name, value, kind):
        return await _followed(requests, variable)
    if (reading := values.compositions.reading(variable)) is not None:
        return replace(variable, value=await _read(requests, reading))
    folded = values.placeholders.filled(variable.value, ()) is not None
    if not variable.variables_reference or not (folded or values.is_bare(variable.value, variable.type)):
        return variable
    try:
        inside = await children(requests, variable.variables_reference, variable.type)
    except AdapterRefused:  # the pointer that leads there is wild
        return variable
    if not inside:
        return variable
    if folded:
        unfolded = values.placeholders.filled(variable.value, [(child.name, child.value) for child in inside])
        return variable if unfolded is None else replace(variable, value=unfolded)
    if values.is_target(inside[0].name, variable.type):
        return replace(variable, value=inside[0].value)
    kind, only = values.bare_type(variable.type), inside[0]
    if len(inside) == 1 and values.compositions.is_variant(kind, only.name, values.bare_type(only.type)):
        text = (await _with_fields(requests, only)).value.removeprefix(f"{kind}::")
        return replace(variable, value=text or only.name)
    pairs = values.pairs
    if pairs is not None and pairs.match(variable.value):
        return replace(variable, value=_pairs(requests, inside))
    return replace(variable, value=_composition(requests, inside, variable))


async def _read(requests: Requests, reading: Reading) -> str:
    """Return what reads a value, with what it asks for, as far as there is room."""
    room, answer = _MAX_READS, None
    with closing(reading):
        while True:
            try:
                reference = reading.send(answer)
            except StopIteration as end:
                return cast("str", end.value)
            room, answer = room - 1, None
            with suppress(AdapterRefused):
                answer = await children(requests, reference) if room >= 0 else None


async def _followed(requests: Requests, variable: DapVariable) -> DapVariable:
    """Return a reference with what is there behind its address; as it is where nothing can be read there."""
    values, address = requests.profile.values, variable.value
    try:
        body = await requests.request("variables", {"variablesReference": variable.variables_reference}, VariablesBody)
    except AdapterRefused:  # it is not made yet, or wild
        return variable
    inside = [_as_shown(values, child) for child in body.variables or []]
    if len(inside) != 1 or not (values.is_target(inside[0].name, variable.type) or inside[0].name.startswith("*")):
        text = _composition(requests, inside, variable) if inside else ""
    else:
        text = (await _with_fields(requests, inside[0])).value
    return replace(variable, value=f"{address} -> {text}") if text and not text.startswith("<error") else variable


async def all_composed(requests: Requests, variables: Sequence[DapVariable]) -> list[DapVariable]:
    """Return variables, the first `MAX_COMPOSED` of those that need it composed."""
    room, shown = MAX_COMPOSED, []
    for variable in variables:
        new = await composed(requests, variable) if room else variable
        room -= new is not variable
        shown.append(new)
    return shown


def _pairs(requests: Requests, inside: Sequence[DapVariable]) -> str:
    values = [in_short(requests, child, child.value) for child in inside[: 2 * _MAX_FIELDS]]
    pairs = [f"{key}: {value}" for key, value in zip(values[::2], values[1::2], strict=False)]
    return f"{{{', '.join(pairs + (['…'] if len(inside) > 2 * _MAX_FIELDS else []))}}}"


def _composition(requests: Requests, inside: Sequence[DapVariable], whole: DapVariable) -> str:
    values = requests.profile.values
    fields = [(child.name, in_short(requests, child, child.value)) for child in inside[:_MAX_FIELDS]]
    kind, has_more = values.bare_type(whole.type), len(inside) > _MAX_FIELDS
    return values.compositions.composed(whole.value, kind, fields, has_more=has_more)


def in_short(requests: Requests, variable: DapVariable, value: str) -> str:
    """Return the value of a variable whose children are shown elsewhere, or not at all."""
    values = requests.profile.values
    if not variable.variables_reference or not values.is_bare(variable.value, variable.type):
        return value
    return values.compositions.folded(variable.value, values.bare_type(variable.type), variable.indexed_variables)
