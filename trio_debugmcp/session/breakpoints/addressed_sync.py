"""`AddressedSync`: sends the breakpoints of one session that are about addresses: on data, and on instructions.

They belong to the program of one session, and are sent to no other.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import trio

from trio_debugmcp.dap.messages import BreakpointsBody, DapBreakpoint
from trio_debugmcp.errors import AdapterRefused
from trio_debugmcp.session.breakpoints.judging import Judging
from trio_debugmcp.session.breakpoints.specs import addressed_in
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.breakpoint import Breakpoint, BreakpointSpec, Watch
from trio_debugmcp.state.changes import BreakpointsBound
from trio_debugmcp.state.model import StackFrame


class AddressedSync:
    """Those of one session; at a stop `read` reads what they watch, once they are sent."""

    def __init__(
        self,
        requests: Requests,
        merger: Merger,
        one_at_a_time: trio.Lock,
        judging: Judging,
        read: Callable[[Sequence[StackFrame]], Awaitable[None]],
    ) -> None:
        self._requests = requests
        self._merger = merger
        self._one_at_a_time = one_at_a_time
        self._judging = judging
        self._read = read
        self._sent = {"setDataBreakpoints": False, "setInstructionBreakpoints": False}

    def __repr__(self) -> str:
        return f"<AddressedSync of {self._requests.session_id}>"

    async def send(self) -> None:
        """Send those of this session, as they are when their turn comes. An adapter that cannot gets none."""
        capabilities = self._requests.capabilities
        async with self._one_at_a_time:
            breakpoints = addressed_in(
                self._merger.state.breakpoints, self._requests.session_id, self._requests.profile.name
            )
            if capabilities.supports_data_breakpoints:
                watches = [
                    (breakpoint, _data(breakpoint.spec.watch))
                    for breakpoint in breakpoints
                    if breakpoint.spec.watch is not None
                ]
                await self._send("setDataBreakpoints", watches)
            if capabilities.supports_instruction_breakpoints:
                on_instructions = [breakpoint for breakpoint in breakpoints if breakpoint.spec.address is not None]
                instructions = [
                    (breakpoint, _instruction(self._judging.sent(breakpoint).spec)) for breakpoint in on_instructions
                ]
                await self._send("setInstructionBreakpoints", instructions)
        snapshot = self._requests.snapshot
        if snapshot is not None and snapshot.phase == "Paused":
            await self._read(snapshot.stack.frames)  # what is there now is what was there before the first hit

    async def _send(self, command: str, mine: list[tuple[Breakpoint, dict[str, Any]]]) -> None:
        active = [(breakpoint, arguments) for breakpoint, arguments in mine if breakpoint.is_active]
        if not active and not self._sent[command]:
            return
        results: list[tuple[str, DapBreakpoint | None]] = []
        try:
            arguments = {"breakpoints": [entry for _, entry in active]}
            answers = (await self._requests.request(command, arguments, BreakpointsBody)).breakpoints or []
        except AdapterRefused as refusal:
            answers = [DapBreakpoint(message=refusal.reason.strip())] * len(active)
        self._sent[command] = bool(active)
        results += [(breakpoint.id, answer) for (breakpoint, _), answer in zip(active, answers, strict=False)]
        results += [(breakpoint.id, None) for breakpoint, _ in mine if not breakpoint.is_active]
        await self._merger.merge(BreakpointsBound(self._requests.session_id, tuple(results)))


def _data(watch: Watch) -> dict[str, Any]:
    return {"dataId": watch.data_id, "accessType": watch.access}


def _instruction(spec: BreakpointSpec) -> dict[str, Any]:
    arguments = {
        "instructionReference": spec.address,
        "condition": spec.condition,
        "hitCondition": spec.hit_condition,
    }
    return {name: value for name, value in arguments.items() if value is not None}
