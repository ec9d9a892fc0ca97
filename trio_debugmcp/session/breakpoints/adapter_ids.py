"""`AdapterIds`: breakpoints of one session whose adapter begins anew to number them once it has the program.

    body = await ids.set_breakpoints(arguments)

js-debug numbers what it gets before the program is there, and begins again at 1 for what it gets later, so that two
breakpoints would have one id, and each event of one would move the other. It takes a number for each breakpoint that it
is sent, also for those that it has. So what it has got early is sent again, unchanged, until these numbers are taken.
"""

from typing import Any

from trio_debugmcp.dap.messages import BreakpointsBody
from trio_debugmcp.session.breakpoints.class_breakpoints import ClassBreakpoints
from trio_debugmcp.session.requests import Requests


class AdapterIds:
    """The ids of one session's breakpoints in lines."""

    def __init__(self, requests: Requests, by_class: ClassBreakpoints) -> None:
        self._requests = requests
        self._by_class = by_class
        self._early: dict[str, dict[str, Any]] = {}
        self._given = 0

    def __repr__(self) -> str:
        return f"<AdapterIds of {self._requests.session_id}: {self._given} to be taken again>"

    async def set_breakpoints(self, arguments: dict[str, Any]) -> BreakpointsBody:
        """Set the breakpoints of a file; raises what `Requests.request` raises."""
        if self._requests.profile.habits.numbers_anew:
            snapshot = self._requests.snapshot
            if snapshot is None or snapshot.phase not in ("Running", "Paused"):
                self._early[arguments["source"]["path"]] = arguments
                self._given += len(arguments["breakpoints"])
            else:
                await self._take_given()
        return await self._request(arguments)

    async def _take_given(self) -> None:
        # A longer list takes more at once. Without any, no breakpoint has one of these ids any more.
        longest = max(self._early.values(), key=lambda arguments: len(arguments["breakpoints"]), default=None)
        while longest is not None and longest["breakpoints"] and self._given > 0:
            await self._request(longest)
            self._given -= len(longest["breakpoints"])

    async def _request(self, arguments: dict[str, Any]) -> BreakpointsBody:
        return await self._by_class.set(arguments)
