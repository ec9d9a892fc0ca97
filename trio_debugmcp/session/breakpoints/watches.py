"""What a data breakpoint is to watch: found by the adapter, and compared with where the program has it.

    watch = await watch_of(requests, frame, WatchQuestion("cart->count", "write"))

lldb-dap 19 takes an expression for a pointer, and watches what it points to, whatever the protocol says. So the address
that it names is compared with that of the expression, and the pointer is passed where these differ.
"""

import re
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.dap.messages import DataBreakpointInfoBody, EvaluateBody
from trio_debugmcp.errors import AdapterRefused, UsageError
from trio_debugmcp.session.looking.by_adapter.adapter_evaluation import evaluate_text
from trio_debugmcp.session.looking.by_adapter.adapter_variables import container
from trio_debugmcp.session.looking.memory_access import LOCATE_SECONDS, address_of, number
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.breakpoint import Watch
from trio_debugmcp.state.model import StackFrame
from trio_debugmcp.state.payloads import MAX_MESSAGE_LENGTH, DataAccess, shortened

_HEX = re.compile(r"(?<![0-9a-zA-Z])(?:0x)?([0-9a-fA-F]{6,16})(?![0-9a-zA-Z])")
"""An address in a description or in an id."""


class WatchQuestion(Struct, frozen=True):
    """What is to be watched: a variable by its path, or an expression for a place."""

    text: str
    access: DataAccess


class WatchedData(Struct, frozen=True):
    """What is to be watched, and its value now."""

    watch: Watch
    value: str | None


async def watch_of(requests: Requests, frame: StackFrame, question: WatchQuestion) -> WatchedData:
    """Return what a data breakpoint is to watch.

    Raises:
        UsageError: `EVAL_FAILED`: there is no such value. `INVALID_PARAMETER`: the adapter cannot
            watch it, or not for such an access.
    """
    text = question.text
    value = await evaluate_text(requests, frame, text, text, requests.patience.seconds(LOCATE_SECONDS))
    address = await address_of(requests, frame, text)
    info = await _info(requests, frame, question, address)
    if info.access_types and question.access not in info.access_types:
        raise UsageError(
            "INVALID_PARAMETER",
            f"{requests.debugger_name} can watch `{shortened(text)}` for {', '.join(info.access_types)}, not for "
            f"{question.access}. Pass one of these as `access`.",
            {"accessTypes": info.access_types},
        )
    watch = Watch(
        expression=text,
        access=question.access,
        data_id=info.data_id or "",
        description=shortened(info.description, MAX_MESSAGE_LENGTH),
        adapter=requests.profile.name,
        persists=bool(info.can_persist),
        address=address,
    )
    return WatchedData(await _readable(requests, frame, watch, value), shortened(value.result))


async def _readable(requests: Requests, frame: StackFrame, watch: Watch, value: EvaluateBody) -> Watch:
    """Return the watch with how its value is read: by its address in any frame, or else by its name in such frames."""
    if watch.address is not None and value.type:
        by_address = f"*({value.type} *){watch.address}"
        try:
            body = await evaluate_text(
                requests, frame, by_address, by_address, requests.patience.seconds(LOCATE_SECONDS)
            )
        except UsageError as error:
            if error.code != "EVAL_FAILED":
                raise
        else:
            if (body.result, body.type) == (value.result, value.type):
                return replace(watch, reader=by_address)
    return replace(watch, reader=watch.expression, function=frame.name)


async def _info(
    requests: Requests, frame: StackFrame, question: WatchQuestion, address: str | None
) -> DataBreakpointInfoBody:
    """Ask the adapter in the ways that there are, until what it names is what is meant."""
    reasons: list[str] = []
    for arguments in await _ways(requests, frame, question, address):
        try:
            info = await requests.request("dataBreakpointInfo", arguments, DataBreakpointInfoBody)
        except AdapterRefused as refusal:
            reasons.append(refusal.reason)
            continue
        if info.data_id is None:
            reasons.append(info.description)
        elif not _is_elsewhere(info, address):
            return info
        else:
            reasons.append(f"the adapter would watch another place: {info.description}")
    reason = next((reason.strip().rstrip(".") for reason in reasons if reason.strip()), "the adapter gave no reason")
    raise UsageError(
        "INVALID_PARAMETER",
        f"`{shortened(question.text)}` cannot be watched: {shortened(reason, MAX_MESSAGE_LENGTH)}. Pass a variable, or "
        "an expression for a place in memory of at most 8 bytes.",
        {"expression": shortened(question.text)},
    )


async def _ways(
    requests: Requests, frame: StackFrame, question: WatchQuestion, address: str | None
) -> list[dict[str, Any]]:
    place = await container(requests, frame, question.text)
    ways: list[dict[str, Any]] = []
    if place is not None:
        ways.append({"variablesReference": place[0], "name": place[1], "frameId": frame.id})
    ways.append({"name": question.text, "frameId": frame.id})
    if address is not None:
        ways.append({"name": f"&({question.text})", "frameId": frame.id})
    return ways


def _is_elsewhere(info: DataBreakpointInfoBody, address: str | None) -> bool:
    """Whether the adapter names addresses, none of which is the one that is meant."""
    meant = number(address)
    named = {int(digits, 16) for digits in _HEX.findall(f"{info.data_id} {info.description}")}
    return meant is not None and bool(named) and meant not in named
