"""What an adapter says to its client on its own: requests of it, events, and answers for a program that has none.

On the direct line no adapter process is there to say it, so `DirectStream` does, in the same words of the protocol.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import count
from typing import Any

import msgspec
import trio

from trio_debugmcp.dap.codec import encode_frame
from trio_debugmcp.dap.dial_in import DialIns
from trio_debugmcp.dap.incoming_connection import IncomingConnection
from trio_debugmcp.dap.messages import BY_ENGINE, Request, Response, RunInTerminal

OUR_NUMBERS = 2_000_000_000
"""Where the sequence numbers of our own messages begin: far above those of the debugger inside the program."""

GOODBYES = ("disconnect", "terminate")

_SETS_BREAKPOINTS = frozenset({"setBreakpoints", "setFunctionBreakpoints", "setExceptionBreakpoints"})


class AdapterWords:
    """Events, and answers to the client's requests that the program has not answered.

    Attributes:
        numbers: of our own messages.
        unanswered: requests of the client, by their numbers.
    """

    __slots__ = ("_frames", "numbers", "unanswered")  # each of a thousand programs has one

    def __init__(self, frames: trio.MemorySendChannel[bytes]) -> None:
        self.numbers: Iterator[int] = count(OUR_NUMBERS)
        self.unanswered: dict[int, Request] = {}
        self._frames = frames

    def __repr__(self) -> str:
        return f"<AdapterWords, {len(self.unanswered)} requests unanswered>"

    def event(self, name: str, body: object) -> bytes:
        """Return the frame of an event."""
        event = {"seq": next(self.numbers), "type": "event", "event": name, "body": body}
        return encode_frame(msgspec.json.encode(event))

    async def refuse(self, reason: str) -> None:
        """Answer all with a failure, as an adapter that cannot start the program does."""
        for request in list(self.unanswered.values()):
            await self._answer(request, failure=reason)

    async def answer_for_lost(self, why: str) -> None:
        """Answer all for a program that cannot any more."""
        for request in list(self.unanswered.values()):
            if request.command in GOODBYES:
                await self._answer(request, {})
            elif request.command == "threads":
                await self._answer(request, {"threads": []})
            elif request.command in _SETS_BREAKPOINTS:
                await self._answer(request, {"breakpoints": _unverified(request)})
            else:
                await self._answer(request, failure=why)

    async def _answer(self, request: Request, body: object = None, *, failure: str | None = None) -> None:
        if self.unanswered.pop(request.seq, None) is None:
            return
        answer = {
            "seq": next(self.numbers),
            "type": "response",
            "request_seq": request.seq,
            "command": request.command,
            "success": failure is None,
            **({"body": body} if failure is None else {"message": failure}),
        }
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):  # the session does not read any more
            await self._frames.send(encode_frame(msgspec.json.encode(answer)))


class AdapterRequests:
    """Requests of an adapter: to run the program, and to debug a child of it that has dialed in.

    Attributes:
        starting: Pythons that the program has started, and that have not dialed in so far.
    """

    __slots__ = (
        "_announced",
        "_child_arguments",
        "_dial_ins",
        "_frames",
        "_has_run",
        "_numbers",
        "_nursery",
        "_pid",
        "_run_number",
        "starting",
    )

    def __init__(
        self,
        frames: trio.MemorySendChannel[bytes],
        numbers: Iterator[int],
        nursery: trio.Nursery,
        dial_ins: DialIns,
        child_arguments: Mapping[str, Any],
    ) -> None:
        self.starting: set[int] = set()
        self._frames, self._numbers = frames, numbers
        self._nursery, self._dial_ins = nursery, dial_ins
        self._child_arguments = child_arguments
        self._announced: dict[int, int] = {}
        self._run_number: int | None = None
        self._has_run = trio.Event()
        self._pid: int | None = None

    def __repr__(self) -> str:
        return f"<AdapterRequests, {len(self._announced)} children announced>"

    async def run_program(self, command_line: RunInTerminal) -> int | None:
        """Have the client run the program; return its process id, or None if it could not."""
        self._run_number, frame = self._encoded("runInTerminal", command_line)
        await self._frames.send(frame)
        await self._has_run.wait()
        return self._pid

    def announce(self, caller: IncomingConnection) -> None:
        """Have the client debug a child."""
        self.starting.discard(caller.pid)
        self._nursery.start_soon(self._send_announcement, caller)

    def take_response(self, response: Response) -> None:
        """Take the client's response to one of them."""
        if response.request_seq == self._run_number:
            answer = msgspec.json.decode(response.body) if response.success and response.body else {}
            pid = answer.get("processId")
            self._pid = pid if isinstance(pid, int) else None
            self._has_run.set()
        child = self._announced.pop(response.request_seq, None)
        if child is not None and not response.success:
            self._dial_ins.dismiss(child)

    def dismiss_children(self) -> None:
        """Give up those that the client has not taken."""
        for child in self._announced.values():
            self._dial_ins.dismiss(child)
        self._announced.clear()

    async def _send_announcement(self, caller: IncomingConnection) -> None:
        configuration = {
            **self._child_arguments,
            "subProcessId": caller.pid,
            "parentProcessId": caller.parent_pid,
            "dialedIn": True,
            **({BY_ENGINE: True} if caller.is_engine else {}),
        }
        number, frame = self._encoded("startDebugging", {"request": "attach", "configuration": configuration})
        self._announced[number] = caller.pid
        try:
            await self._frames.send(frame)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self._dial_ins.dismiss(caller.pid)

    def _encoded(self, command: str, arguments: object) -> tuple[int, bytes]:
        number = next(self._numbers)
        request = {"seq": number, "type": "request", "command": command, "arguments": arguments}
        return number, encode_frame(msgspec.json.encode(request))


def _unverified(request: Request) -> list[dict[str, bool]]:
    """One answer for each breakpoint that was to be set."""
    arguments = msgspec.json.decode(request.arguments) if request.arguments else {}
    breakpoints = arguments.get("breakpoints") if isinstance(arguments, dict) else None
    return [{"verified": False} for _ in breakpoints or ()]
