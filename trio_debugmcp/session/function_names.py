"""Breakpoints on functions, under the names that the adapter knows them by."""

from collections.abc import Sequence
from typing import Any

from trio_debugmcp.dap.messages import BreakpointsBody, DapBreakpoint
from trio_debugmcp.session.requests import Requests


async def set_functions(requests: Requests, wanted: Sequence[dict[str, Any]]) -> list[DapBreakpoint]:
    """Have the adapter set these; once more, by other names, if the language knows such for those it refuses.

    Raises:
        AdapterRefused: it refuses all of them.
    """
    found = await _request(requests, wanted)
    other_name = requests.profile.words.other_name
    others = [
        None if answer.verified else other_name(each["name"], answer.message or "")
        for each, answer in zip(wanted, found, strict=False)
    ]
    if not any(others):
        return found
    others += [None] * (len(wanted) - len(others))  # some adapters answer with fewer than were sent
    renamed = [{**each, "name": other or each["name"]} for each, other in zip(wanted, others, strict=True)]
    second = await _request(requests, renamed)
    # What the adapter has said of the name that the user gave tells more than that there is none of the other.
    kept = zip(found, second, others, strict=False)
    return [new if new.verified or other is None else old for old, new, other in kept]


async def _request(requests: Requests, wanted: Sequence[dict[str, Any]]) -> list[DapBreakpoint]:
    body = await requests.request("setFunctionBreakpoints", {"breakpoints": list(wanted)}, BreakpointsBody)
    return body.breakpoints or []
