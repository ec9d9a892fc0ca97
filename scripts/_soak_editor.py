"""An editor for `scripts/soak`: it joins, sends requests at random, and leaves in one way or another.

Every message that it receives is checked against the protocol's schema.
"""

import random
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol

import trio

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.editors.bench import EditorClient, Refused

HANG_SECONDS = 60
"""For one request; the longest wait that one causes is that for a breakpoint to be set, 10 s."""

JOIN_SECONDS = 600
"""For a session to begin, while the other clients have none."""

STAY = (10, 200)
"""Requests from joining to leaving."""

_BUGS = ("A bug in the debugger", "Traceback", "object at 0x")

FILES = ("busy.py", "workers.py", "steps.py", "errors.py", "chatter.py")


class Soaked(Protocol):
    """What of a soak an editor uses."""

    programs: Path
    seed: int

    def turn(self) -> AbstractAsyncContextManager[None]:
        """Run a request, once the clients do not pause."""

    def count(self, call: str, refused: str | None = None) -> None:
        """Count a request, or how it was refused."""

    def fault(self, what: str) -> None:
        """Record what must not be."""


class RandomEditor:
    """The random requests of one connection."""

    def __init__(self, soak: Soaked, editor: EditorClient, dice: random.Random) -> None:
        self._soak = soak
        self._editor = editor
        self._dice = dice
        self._frames, self._values = [1, 999_999], [1, 999_999]

    async def play(self, requests: int) -> None:
        """Send so many requests, one after the other; fewer if the session ends."""
        for _ in range(requests):
            async with self._soak.turn():
                if self._editor.closed or self._editor.bodies("terminated"):
                    return
                command, arguments = self._next()
                await self.ask(command, **arguments)
            await trio.sleep(self._dice.uniform(0, 0.1))

    async def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Send a request, and judge what comes of it."""
        self._soak.count(f"editor {command}")
        try:
            with trio.fail_after(HANG_SECONDS):
                body = await self._editor.ask(command, **arguments)
        except Refused as refused:
            self._soak.count(f"editor {command}", refused.word if refused.word == "notStopped" else "refused")
            if any(each in str(refused) for each in _BUGS) or not str(refused).strip():
                self._soak.fault(f"editor: {command} {arguments}: {refused}")
            return {}
        except trio.TooSlowError:
            self._soak.fault(f"editor: {command} {arguments} has not been answered within {HANG_SECONDS} s")
            return {}
        except (trio.EndOfChannel, trio.BrokenResourceError, trio.ClosedResourceError):  # the session has ended
            return {}
        self._frames += [each["id"] for each in body.get("stackFrames", ())]
        shown = [*body.get("scopes", ()), *body.get("variables", ())]
        self._values += [each["variablesReference"] for each in shown if each["variablesReference"]]
        del self._frames[:-5], self._values[:-20]
        return body

    def _next(self) -> tuple[str, dict[str, Any]]:
        dice, frame, value = self._dice, self._dice.choice(self._frames), self._dice.choice(self._values)
        thread = {"threadId": dice.choice([1, 1, 1, 1, 2, frame])}
        file = self._soak.programs / dice.choice(FILES)
        lines = len(file.read_text().splitlines())
        points = [
            {
                "line": dice.randint(1, lines),
                **dice.choice([{}, {"condition": "turn % 9 == 0"}, {"logMessage": "x {1}"}]),
            }
            for _ in range(dice.randint(0, 4))
        ]
        looks: list[tuple[str, dict[str, Any]]] = [
            ("threads", {}),
            ("stackTrace", {**thread, "startFrame": dice.randint(0, 3), "levels": dice.randint(0, 20)}),
            ("scopes", {"frameId": frame}),
            ("variables", {"variablesReference": value, "start": 0, "count": dice.choice([0, 5])}),
            ("variables", {"variablesReference": value}),
            ("evaluate", {"expression": dice.choice(["turn", "1 + 1", "no such", "x ="]), "frameId": frame}),
            ("evaluate", {"expression": "sum(range(1000))", "context": dice.choice(["repl", "hover", "watch"])}),
            ("completions", {"text": "tu", "column": 3}),
            ("exceptionInfo", thread),
            ("modules", {}),
            ("loadedSources", {}),
            ("source", {"source": {"path": str(file)}, "sourceReference": 0}),
        ]
        moves: list[tuple[str, dict[str, Any]]] = [
            *((each, thread) for each in ("next", "stepIn", "stepOut", "continue", "continue", "pause", "pause")),
            ("goto", {**thread, "targetId": frame}),
            ("cancel", {"requestId": dice.randint(1, 50)}),
        ]
        sets: list[tuple[str, dict[str, Any]]] = [
            ("setBreakpoints", {"source": {"path": str(file)}, "breakpoints": points}),
            ("setFunctionBreakpoints", {"breakpoints": [{"name": "main"}][: dice.randint(0, 1)]}),
            ("setExceptionBreakpoints", {"filters": dice.choice([[], ["uncaught"], ["raised"]])}),
            ("setVariable", {"variablesReference": value, "name": "turn", "value": "5"}),
            ("no such", {}),
        ]
        return dice.choice(dice.choices([looks, moves, sets], [6, 4, 2])[0])


async def soak_editor(soak: Soaked, port: int, tokens: Sequence[str]) -> None:
    """Connect, join the session of the others, send requests, leave, and start again."""
    dice = random.Random(f"{soak.seed} editor")
    while True:
        stream = await trio.open_tcp_stream("127.0.0.1", port)
        async with stream, trio.open_nursery() as nursery:
            editor = EditorClient(stream)
            nursery.start_soon(editor.receive)
            with trio.move_on_after(JOIN_SECONDS):
                await _visit(soak, editor, dice, dice.choice(tokens))
            nursery.cancel_scope.cancel()


async def _visit(soak: Soaked, editor: EditorClient, dice: random.Random, token: str) -> None:
    player = RandomEditor(soak, editor, dice)
    hello = {"supportsInvalidatedEvent": dice.random() < 0.5, "supportsVariablePaging": dice.random() < 0.5}
    leave: Callable[[], Awaitable[object]] | None = dice.choice([None, lambda: player.ask("disconnect")])
    try:
        await editor.initialize(**hello)
        await editor.send("attach", {"token": token, "wait": True})
        await editor.wait_event("initialized")
        await player.ask("configurationDone")
        await player.ask("threads")
        await player.play(dice.randint(*STAY))
        if leave is not None:
            async with soak.turn():
                await leave()
    except (AssertionError, trio.BrokenResourceError, trio.ClosedResourceError, trio.EndOfChannel) as error:
        if not editor.closed:
            soak.fault(f"editor: {error!r}")
