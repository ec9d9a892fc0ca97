"""`FakeFleet`: many processes that dial in at `debug_listen` over real sockets, each with a rank, none of them real.

    answer = await client.call("debug_listen")
    async with FakeFleet(answer["address"], answer["token"], 1000) as fleet:
        await fleet.connected()
        fleet.workers[3].frames = [("load_batch", "/job/data.py", 31)]
        await client.call("fleet_state")
        fleet.workers[7].die()

Each speaks the protocol of the engine, as far as a look at it, a pause, a resume and an evaluation need it.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from itertools import count
from types import TracebackType
from typing import Any, Self

import trio

from trio_debugmcp.dap.codec import FrameDecoder, encode_frame
from trio_debugmcp.probe.bootstrap import ASK
from trio_debugmcp.testing.fake_answers import Refusal

_FIRST_PID = 2_000_000_000
"""Above the process ids that systems give, so that no program of this machine is taken for one of these."""

_CHUNK_BYTES = 64 * 1024

_STEPS = ("next", "stepIn", "stepOut")

_RESUMES = (*_STEPS, "continue")

_CAPABILITIES = {"supportsConfigurationDoneRequest": True, "supportTerminateDebuggee": True, "engineRequests": True}


class FakeWorker:
    """One process of a `FakeFleet`. It has a method for each request that it answers, hence so many.

    Attributes:
        frames: its stack, the innermost first: function, file, line.
        breakpoints: the lines that it has breakpoints on, by their files.
        values: what expressions come to, as they are shown; others are not defined.
        reads: False: from now on it takes nothing from its connection.
        released: the debugger has left it.
        ready: it has dialed in, and may run.
    """

    def __init__(self, rank: int, size: int, host: str) -> None:
        self.rank = rank
        self.frames: list[tuple[str, str, int]] = [("all_reduce", "/job/dist.py", 88), ("<module>", "/job/train.py", 9)]
        self.breakpoints: dict[str, list[int]] = {}
        self.values: dict[str, str] = {"rank": str(rank)}
        self.reads = True
        self.ready, self.released = trio.Event(), False
        self._variables = {"RANK": str(rank), "WORLD_SIZE": str(size)}
        self._host = host
        self._numbers = count(1)
        self._breakpoint_ids = count(1)
        self._outcomes: dict[Any, dict[str, Any]] = {}
        self._is_stopped = self._answers_stops = False
        self._stream: trio.SocketStream | None = None

    def __repr__(self) -> str:
        return f"<FakeWorker rank={self.rank}>"

    async def run(self, host: str, port: int, token: str) -> None:
        """Dial in, and answer until the connection ends."""
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            async with await trio.open_tcp_stream(host, port) as self._stream:
                process = {"pid": _FIRST_PID + self.rank, "ppid": _FIRST_PID - 1}
                body = {"clientAccessToken": token, "process": process}
                await self._respond({"seq": 1, "command": "pydevdAuthorize"}, body)
                await self._serve(self._stream)

    async def stop(self, reason: str) -> None:
        """Stop it where it is."""
        self._is_stopped = True
        answer = {"answer": {"answer": self._stop(), "ms": 1.0}} if self._answers_stops else {}
        await self._event("stopped", {"reason": reason, "threadId": 1, "allThreadsStopped": True, **answer})

    async def write(self, text: str) -> None:
        """Write to its standard output."""
        await self._event("output", {"category": "stdout", "output": text})

    def die(self) -> None:
        """End it without a word, as a process does that is killed."""
        if self._stream is not None:
            self._stream.socket.close()

    async def _serve(self, stream: trio.SocketStream) -> None:
        decoder = FrameDecoder()
        while data := bytes(await stream.receive_some(_CHUNK_BYTES)):
            if not self.reads:
                await trio.sleep_forever()
            for frame in decoder.feed(data):
                message = json.loads(frame)
                if message["type"] == "request" and message["command"] != "pydevdAuthorize":  # answered before
                    await self._take(message)

    async def _take(self, request: Mapping[str, Any]) -> None:
        answer = getattr(self, f"_on_{request['command'].rpartition('/')[2]}", None)
        arguments = request.get("arguments") or {}
        self.released |= request["command"] == "disconnect"
        self._is_stopped &= request["command"] not in _RESUMES
        try:
            await self._respond(request, {} if answer is None else answer(arguments))
        except Refusal as refusal:
            await self._respond(request, message=str(refusal), success=False)
        match request["command"]:
            case "attach":
                process = {"name": "/job/train.py", "systemProcessId": _FIRST_PID + self.rank, "startMethod": "attach"}
                await self._event("process", process)
                await self._event("initialized", {})
            case "configurationDone":
                await self._event("thread", {"reason": "started", "threadId": 1})
                self.ready.set()
            case "pause":
                await self.stop("pause")
            case step if step in _STEPS:
                await self.stop("step")

    async def _respond(
        self, request: Mapping[str, Any], body: Any = None, *, success: bool = True, **more: Any
    ) -> None:
        told = {"type": "response", "request_seq": request["seq"], "command": request["command"]}
        await self._send({**told, "success": success, "body": body, **more})

    async def _event(self, name: str, body: Any) -> None:
        await self._send({"type": "event", "event": name, "body": body})

    async def _send(self, message: Mapping[str, Any]) -> None:
        if self._stream is not None:
            await self._stream.send_all(encode_frame(json.dumps({"seq": next(self._numbers), **message}).encode()))

    # --- Answers ------------------------------------------------------------------------------------------------------

    def _on_initialize(self, arguments: Mapping[str, Any]) -> Any:
        return {**_CAPABILITIES, "runtime": {"marks": self._marks()}}

    def _on_setBreakpoints(self, arguments: Mapping[str, Any]) -> Any:  # noqa: N802
        wanted = arguments.get("breakpoints") or ()
        self.breakpoints[arguments["source"]["path"]] = [each["line"] for each in wanted]
        placed = [{"id": next(self._breakpoint_ids), "verified": True, "line": each["line"]} for each in wanted]
        return {"breakpoints": placed}

    def _on_threads(self, arguments: Mapping[str, Any]) -> Any:
        return {"threads": [{"id": 1, "name": "MainThread"}]}

    def _on_stackTrace(self, arguments: Mapping[str, Any]) -> Any:  # noqa: N802
        frames = [
            {"id": index + 1, "name": name, "line": line, "column": 1, "source": {"path": path}}
            for index, (name, path, line) in enumerate(self.frames)
        ]
        return {"stackFrames": frames, "totalFrames": len(frames)}

    def _on_evaluate(self, arguments: Mapping[str, Any]) -> Any:
        expression = arguments["expression"]
        self._outcomes[arguments.get("number")] = self._outcome(expression)
        if expression not in self.values:
            raise Refusal(f"NameError: name '{expression}' is not defined")
        return {"result": self.values[expression], "variablesReference": 0}

    def _on_ask(self, arguments: Mapping[str, Any]) -> Any:
        parameters = arguments.get("parameters") or {}
        match arguments["question"]:
            case "stop":
                self._answers_stops |= bool(arguments.get("atStops"))
                answer = self._stop()
            case "stacks":
                answer = self._stacks()
            case "used":
                answer = {"processor": 1.0, "at": trio.current_time()}
            case "start":
                answer = self._outcome(str(parameters.get("source")))
            case "outcome":
                answer = self._outcomes.pop(parameters.get("number"), {"done": False})
            case "unpause":
                answer = {"taken": False}
            case question:
                raise Refusal(f"{ASK}: no answer to {question}")
        return {"answer": answer, "ms": 1.0}

    def _stop(self) -> dict[str, Any]:
        frames = [
            {"index": index, "id": index + 1, "file": file, "line": line, "function": function}
            for index, (function, file, line) in enumerate(self.frames)
        ]
        thread = {"id": 1, "name": "MainThread", "state": "stopped", "at": frames[0]}
        return {"thread": 1, "frames": frames, "total": len(frames), "threads": [thread], "threadsTotal": 1}

    def _stacks(self) -> dict[str, Any]:
        frames = [
            {"index": index, "file": file, "line": line, "function": function}
            for index, (function, file, line) in enumerate(self.frames)
        ]
        state = "stopped" if self._is_stopped else "waiting"
        thread = {"id": 1, "name": "MainThread", "state": state, "frames": frames, "total": len(frames)}
        used = {"processor": 1.0, "at": trio.current_time()}
        return {"stacks": [thread], "total": 1, "marks": self._marks(), "used": used}

    def _marks(self) -> dict[str, Any]:
        return {"variables": self._variables, "host": self._host}

    def _outcome(self, expression: str) -> dict[str, Any]:
        if expression not in self.values:
            return {"done": True, "error": f"NameError: name '{expression}' is not defined"}
        return {"done": True, "hasValue": True, "value": self.values[expression]}


class FakeFleet:
    """Processes with the ranks from 0 on that dial in together when its block begins; all are gone after it.

    Args:
        address: where the server listens, as `debug_listen` says it.
        hosts: names of the machines that they say they are on, one after the other.
    """

    def __init__(self, address: str, token: str, number: int, hosts: Sequence[str] = ("a1",)) -> None:
        self.workers = [FakeWorker(rank, number, hosts[rank * len(hosts) // number]) for rank in range(number)]
        self._address, self._token = address, token
        self._block = AsyncExitStack()

    async def __aenter__(self) -> Self:
        host, _, port = self._address.rpartition(":")
        nursery = await self._block.enter_async_context(trio.open_nursery())
        self._block.callback(nursery.cancel_scope.cancel, reason="the block of the fleet is over")
        for worker in self.workers:
            nursery.start_soon(worker.run, host.strip("[]"), int(port), self._token)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._block.__aexit__(kind, error, trace)  # noqa: ASYNC102 (it cancels first)

    async def connected(self) -> None:
        """Wait until all of them that read have dialed in and may run. The caller bounds the wait."""
        for worker in self.workers:
            if worker.reads:
                await worker.ready.wait()
