"""`FunctionNames`: breakpoints on functions, under the names that the adapter knows them by."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from trio_debugmcp.dap.messages import BreakpointsBody, DapBreakpoint
from trio_debugmcp.session.requests import Requests


class FunctionNames:
    """Those that one adapter has.

    It may answer in any order, lldb-dap in that of a hash table, and says of which name an answer is with its id alone.
    Then new ones are sent one by one: what has an id that was not there before is the new one's.
    """

    def __init__(self, requests: Requests) -> None:
        self._requests = requests
        self._known: dict[str, int] = {}

    def __repr__(self) -> str:
        return f"<FunctionNames of {self._requests.session_id}: {sorted(self._known)}>"

    async def set(self, wanted: Sequence[dict[str, Any]]) -> list[DapBreakpoint]:
        """Have the adapter set these; once more, by other names, if the language knows such for those it refuses.

        Raises:
            AdapterRefused: it refuses all of them.
        """
        found = await self._request(wanted)
        other_name = self._requests.profile.words.other_name
        others = [
            None if answer.verified else other_name(breakpoint["name"], answer.message or "")
            for breakpoint, answer in zip(wanted, found, strict=False)
        ]
        if not any(others):
            return found
        others += [None] * (len(wanted) - len(others))  # some adapters answer with fewer than were sent
        renamed = [
            breakpoint if other is None else {**breakpoint, "name": other[0]}
            for breakpoint, other in zip(wanted, others, strict=True)
        ]
        second = await self._request(renamed)
        # What the adapter has said of the name that the user gave tells more than that there is none of the other.
        kept = zip(found, second, others, strict=False)
        return [_answer(old, new, other) for old, new, other in kept]

    async def _request(self, wanted: Sequence[dict[str, Any]]) -> list[DapBreakpoint]:
        if self._requests.profile.habits.functions_in_order or not wanted:
            self._known = {}
            return await self._send(wanted)
        names = list(dict.fromkeys(breakpoint["name"] for breakpoint in wanted))
        self._known = {name: id_ for name, id_ in self._known.items() if name in names}
        new = [name for name in names if name not in self._known]
        sent = {*self._known}
        found: list[DapBreakpoint] = []
        for name in new or names[-1:]:
            sent.add(name)
            found = await self._send([breakpoint for breakpoint in wanted if breakpoint["name"] in sent])
            others = {*self._known.values()}
            added = [answer.id for answer in found if answer.id is not None and answer.id not in others]
            if len(added) == 1 and name not in self._known:
                self._known[name] = added[0]
        answers = {answer.id: answer for answer in found}
        if not all(self._known.get(name) in answers for name in names):
            return found  # without ids there is only the order
        return [answers[self._known[breakpoint["name"]]] for breakpoint in wanted]

    async def _send(self, wanted: Sequence[dict[str, Any]]) -> list[DapBreakpoint]:
        body = await self._requests.request("setFunctionBreakpoints", {"breakpoints": list(wanted)}, BreakpointsBody)
        return body.breakpoints or []


def _answer(old: DapBreakpoint, new: DapBreakpoint, other: tuple[str, str | None] | None) -> DapBreakpoint:
    """Return what is answered for a breakpoint that was maybe tried by another name."""
    if other is None:
        return new
    return replace(new, message=new.message or other[1]) if new.verified else old
