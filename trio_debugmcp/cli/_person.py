"""The person at the terminal, whom a server may ask: sampling, elicitation, roots.

    person = Person(LineTerminal(), notices.write)      # None if there is no terminal
    options = InspectorOptions(**person.options(roots=["."]))

Without a terminal everything is declined, with the reason.
"""

import argparse
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import trio

from trio_debugmcp.cli._form import NOTHING, fields
from trio_debugmcp.cli._output import plain, visible

_CHUNK_BYTES = 64 * 1024
"""One read; a terminal returns a line at a time."""

REFUSED = -1
"""The code that the specification gives for a sampling request that the person rejected."""


def add_person_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for what a person sees beside the results, and what a server may know without asking."""
    parser.add_argument(
        "--verbose", action=argparse.BooleanOptionalAction,
        help="progress, log messages and the server's standard error on standard error (default: on a terminal)",
    )  # fmt: skip
    parser.add_argument(
        "--root", action="append", default=[], metavar="DIR",
        help="a directory that the server may know (repeatable; default: asked for on a terminal, else none)",
    )  # fmt: skip


class Terminal(Protocol):
    """Where commands are typed, and questions are asked."""

    def write(self, text: str) -> None:
        """Show a line or several; control characters are shown as escapes."""

    def turn(self) -> AbstractAsyncContextManager[None]:
        """Have the terminal for the questions of a block."""

    async def ask(self, question: str) -> str:
        """One line from the person; raises `EOFError` if they end the input."""

    async def read_command(self) -> str:
        """The next command; raises `EOFError` at the end of the input."""


class LineTerminal:
    """Questions on standard error, answers from standard input, which is read only while a question is open.

    The file descriptor is read and not `sys.stdin`: a thread that waits in `readline` would hold its lock when the
    interpreter ends.
    """

    def __init__(self) -> None:
        self._pending = b""
        self._lock = trio.Lock()

    def write(self, text: str) -> None:
        sys.stderr.write(visible(text) + "\n")
        sys.stderr.flush()

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None, None]:
        async with self._lock:
            yield

    async def ask(self, question: str) -> str:
        sys.stderr.write(visible(question))
        sys.stderr.flush()
        return await self._line()

    async def read_command(self) -> str:
        async with self._lock:
            return await (self.ask("mcp> ") if sys.stdin.isatty() else self._line())

    async def _line(self) -> str:
        while b"\n" not in self._pending:
            data = await _read(sys.stdin.fileno())
            if not data and not self._pending:
                raise EOFError
            self._pending += data or b"\n"  # a last line without its end
        line, _, self._pending = self._pending.partition(b"\n")
        return line.decode(errors="replace").strip()


async def _read(descriptor: int) -> bytes:
    if os.isatty(descriptor):
        await trio.lowlevel.wait_readable(descriptor)
        return os.read(descriptor, _CHUNK_BYTES)
    # A file is always ready, and epoll refuses it.
    return await trio.to_thread.run_sync(os.read, descriptor, _CHUNK_BYTES, abandon_on_cancel=True)


class Person:
    """Answers what a server asks, one question at a time; without a terminal everything is declined, with the reason.

    Args:
        terminal: where the person is, or None.
        notify: shows what was declined.
    """

    def __init__(self, terminal: Terminal | None, notify: Callable[[str], None]) -> None:
        self._terminal = terminal
        self._notify = notify

    def options(self, roots: Sequence[str]) -> dict[str, Any]:
        """The options of a client whose server may ask this person, with the directories that it may know."""
        return {
            "sampling": self._in_turn(self._sample),
            "elicitation": self._in_turn(self._elicit),
            "roots": tuple(map(_root, roots)) if roots else self._roots,
        }

    async def named_roots(self, directories: Sequence[str]) -> list[dict[str, str]]:
        """The directories that the server may know, as in the answer to `roots/list`."""
        return [_named(directory) for directory in directories or await self._agreed_roots()]

    async def answer_plain(self, method: str, params: Any) -> dict[str, Any]:
        """The `result` or the `error` of `sampling/createMessage` or `elicitation/create`, in JSON types."""
        from mcp.types import INVALID_PARAMS, CreateMessageRequest, ElicitRequest, ErrorData

        sampling = method == "sampling/createMessage"
        kind = CreateMessageRequest if sampling else ElicitRequest
        try:
            question = kind.model_validate({"method": method, "params": params}, by_name=False)
        except ValueError as error:
            return {"error": {"code": INVALID_PARAMS, "message": f"{method} is not what the protocol says: {error}"}}
        answer = await self._in_turn(self._sample if sampling else self._elicit)(None, question.params)
        return {"error" if isinstance(answer, ErrorData) else "result": plain(answer)}

    def _in_turn(self, answer: Callable[[Terminal, Any], Awaitable[Any]]) -> Callable[[Any, Any], Awaitable[Any]]:
        async def answer_in_turn(_context: Any, params: Any) -> Any:
            from mcp.types import ElicitResult, ErrorData

            elicited = hasattr(params, "requested_schema") or hasattr(params, "url")
            if self._terminal is None:
                what = "elicitation" if elicited else "sampling"
                reason = f"declined {what}: there is no terminal to ask a person"
                self._notify(f"{reason} ({visible(params.message)})" if elicited else reason)
                return ElicitResult(action="decline") if elicited else ErrorData(code=REFUSED, message=reason)
            async with self._terminal.turn():
                try:
                    return await answer(self._terminal, params)
                except EOFError:
                    return ElicitResult(action="cancel") if elicited else _rejected()

        return answer_in_turn

    async def _elicit(self, terminal: Terminal, params: Any) -> Any:
        from mcp.types import ElicitResult

        terminal.write(f"The server asks: {visible(params.message)}")
        if (url := getattr(params, "url", None)) is not None:
            return await self._visit(terminal, url)
        if not await _agrees(terminal, "Answer?"):
            return ElicitResult(action="decline")
        content: dict[str, Any] = {}
        for field in fields(params.requested_schema):
            while True:
                try:
                    value = field.read(await terminal.ask(visible(field.question)))
                except ValueError as error:
                    terminal.write(f"  {visible(str(error))}")
                    continue
                if value is not NOTHING:
                    content[field.name] = value
                break
        return ElicitResult(action="accept", content=content)

    async def _visit(self, terminal: Terminal, url: str) -> Any:
        from mcp.types import ElicitResult

        if not url.startswith(("http://", "https://")):  # it comes from the server and goes to the operating system
            terminal.write(f"  declined: {visible(url)} is not a page on the web")
            return ElicitResult(action="decline")
        terminal.write(f"  {visible(url)}")
        if not await _agrees(terminal, "Open this page?"):
            return ElicitResult(action="decline")
        from trio_debugmcp.cli._browser import show_page

        await show_page(url, "Continue on this page:")
        return ElicitResult(action="accept")

    async def _sample(self, terminal: Terminal, params: Any) -> Any:
        from mcp.types import CreateMessageResult, TextContent

        terminal.write("The server asks for a text, as from a model:")
        if params.system_prompt:
            terminal.write(f"  system: {visible(params.system_prompt)}")
        for message in params.messages:
            terminal.write(f"  {message.role}: {visible(_text(message.content))}")
        if not await _agrees(terminal, "Answer it yourself?"):
            return _rejected()
        text = await terminal.ask("Text: ")
        return CreateMessageResult(
            role="assistant", content=TextContent(type="text", text=text), model="human", stop_reason="endTurn"
        )

    async def _roots(self) -> Sequence[Any]:
        return tuple(map(_root, await self._agreed_roots()))

    async def _agreed_roots(self) -> Sequence[str]:
        here = str(Path.cwd())
        if self._terminal is None:
            self._notify("declined roots: there is no terminal to ask a person; pass --root DIR")
            return ()
        async with self._terminal.turn():
            try:
                agreed = await _agrees(
                    self._terminal, f"The server asks for the directories of the project. Name {here}?"
                )
            except EOFError:
                agreed = False
        return (here,) if agreed else ()


async def _agrees(terminal: Terminal, question: str) -> bool:
    while True:
        answer = (await terminal.ask(f"{question} [y/n] ")).lower()
        if answer in ("y", "yes", "n", "no"):
            return answer.startswith("y")


def _rejected() -> Any:
    from mcp.types import ErrorData

    return ErrorData(code=REFUSED, message="The person rejected the sampling request")


def _root(directory: str) -> Any:
    from mcp.types import Root

    return Root.model_validate(_named(directory))


def _named(directory: str) -> dict[str, str]:
    path = Path(directory).absolute()
    return {"uri": path.as_uri(), "name": path.name}


def _text(content: Any) -> str:
    parts = content if isinstance(content, list) else [content]
    return " ".join(getattr(part, "text", None) or f"[{part.type}]" for part in parts)
