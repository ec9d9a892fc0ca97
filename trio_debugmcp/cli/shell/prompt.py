"""The prompt, with history and completion: prompt_toolkit, which runs on asyncio, in a worker thread.

    terminal = PromptTerminal(propose)
    with terminal.shared_screen():              # what is written meanwhile appears above the prompt
        line = await terminal.read_command()

A cancelled prompt is ended in its thread, which restores the terminal, before the cancellation continues. A question of
the server interrupts the prompt for commands; what was typed is there again afterwards. What the server completes is
asked of it while a person types, hence the short time limit.
"""

import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import trio
from msgspec import Struct
from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.patch_stdout import patch_stdout

from trio_debugmcp.cli._output import visible
from trio_debugmcp.cli.shell.shell_commands import HELP, LOG_LEVELS

if TYPE_CHECKING:  # `serve` must start without the client
    from trio_debugmcp.client import InspectorClient

WAIT_SECONDS = 2.0
"""For the server to complete a value: a person who types does not wait longer."""


class Proposal(Struct, frozen=True):
    """A word that may stand in place of the last `replaces` characters before the cursor."""

    text: str
    replaces: int
    about: str = ""


async def proposals(before: str, client: "InspectorClient") -> list[Proposal]:
    """The words that fit at the end of `before`, the text before the cursor."""
    *words, last = before.lstrip().split(" ")
    words = [word for word in words if word]
    if not words:
        return _matching(last, [(name, about) for name, (_, about) in HELP.items()])
    command, rest = words[0], words[1:]
    if not rest:
        return _matching(last, _names(command, client))
    if command not in ("call", "read", "prompt") or last.startswith("{"):
        return _matching(last, _names(command, client)) if command in ("subscribe", "unsubscribe") else []
    name, equals, value = last.partition("=")
    arguments = dict(word.split("=", 1) for word in rest[1:] if "=" in word)
    if not equals:
        return _matching(
            last, [item for item in _parameters(command, rest[0], client) if item[0][:-1] not in arguments]
        )
    return _matching(value, [(text, "") for text in await _values(command, rest[0], name, value, arguments, client)])


def _matching(begun: str, items: Iterable[tuple[str, str | None]]) -> list[Proposal]:
    matches = [(text, about) for text, about in items if text.lower().startswith(begun.lower())]
    return [Proposal(text, len(begun), (about or "").partition("\n")[0]) for text, about in matches]


def _names(command: str, client: "InspectorClient") -> list[tuple[str, str | None]]:
    """What may follow a command."""
    tools = [(tool.name, tool.description) for tool in client.tools]
    prompts = [(prompt.name, prompt.description) for prompt in client.prompts]
    resources = [(resource.uri, resource.name) for resource in client.resources]
    templates = [
        (resource_template.uri_template, resource_template.name) for resource_template in client.resource_templates
    ]
    names_of: dict[str, Sequence[tuple[str, str | None]]] = {
        "call": tools,
        "prompt": prompts,
        "read": [*resources, *templates],
        "show": [*tools, *prompts, *resources, *templates],
        "subscribe": resources,
        "watch": resources,
        "unsubscribe": [(uri, "") for uri in client.get_subscribed_resources()],
        "log": [(level, "") for level in LOG_LEVELS],
    }
    return list(names_of.get(command, ()))


def _parameters(command: str, name: str, client: "InspectorClient") -> list[tuple[str, str | None]]:
    """The arguments of a tool, a prompt or a template, each with its `=`."""
    if command == "call":
        return [
            (f"{key}=", parameter.get("description") or parameter.get("type"))
            for key, parameter in _schema(name, client).items()
        ]
    if command == "prompt":
        prompt = next((prompt for prompt in client.prompts if prompt.name == name), None)
        return [(f"{argument.name}=", argument.description) for argument in (prompt.arguments or [] if prompt else [])]
    from mcp import InvalidUriTemplate, UriTemplate

    try:
        return [(f"{variable}=", "") for variable in UriTemplate.parse(name).variable_names]
    except InvalidUriTemplate:
        return []


def _schema(tool_name: str, client: "InspectorClient") -> Mapping[str, Any]:
    tool = next((tool for tool in client.tools if tool.name == tool_name), None)
    return (tool.input_schema.get("properties") or {}) if tool is not None else {}


async def _values(
    command: str, name: str, argument: str, begun: str, arguments: Mapping[str, str], client: "InspectorClient"
) -> Sequence[str]:
    """Values of an argument: of the schema for a tool, of the server's choosing for a prompt or a template."""
    if command == "call":
        schema = _schema(name, client).get(argument) or {}
        if schema.get("type") == "boolean":
            return ("true", "false")
        values = schema.get("enum") or [schema[key] for key in ("const", "default") if key in schema]
        return [str(value) for value in values]
    from mcp import MCPError
    from mcp.types import PromptReference, ResourceTemplateReference

    from trio_debugmcp.errors import DebugError

    ref = PromptReference(name=name) if command == "prompt" else ResourceTemplateReference(uri=name)
    with trio.move_on_after(WAIT_SECONDS):
        try:
            return (await client.get_completions(ref, argument, begun, dict(arguments))).values
        except (MCPError, DebugError):
            return ()  # nothing to propose; the command itself will report what is wrong
    return ()


PROMPT = "mcp> "

Propose = Callable[[str], Awaitable[Iterable[Proposal]]]


class _Interrupted(Exception):
    """Ends a prompt from outside; with what was typed so far."""


class _Proposals(Completer):
    """Asks the Trio side, from prompt_toolkit's thread for completions."""

    def __init__(self, propose: Propose) -> None:
        self._propose = propose
        self._token = trio.lowlevel.current_trio_token()

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        try:
            proposals = trio.from_thread.run(self._propose, document.text_before_cursor, trio_token=self._token)
        except (trio.RunFinishedError, trio.Cancelled):  # noqa: ASYNC103 (a thread, not a task: nothing to pass it on to)
            return  # noqa: ASYNC104
        for proposal in proposals:
            yield Completion(proposal.text, -proposal.replaces, display_meta=proposal.about)


class PromptTerminal:
    """The terminal of the shell: reads commands, and asks what a server asks.

    Args:
        propose: completes a line; called on the Trio side.
    """

    def __init__(self, propose: Propose) -> None:
        self._commands: PromptSession[str] = PromptSession(
            history=InMemoryHistory(),
            completer=_Proposals(propose),
            complete_in_thread=True,
            complete_while_typing=False,
        )
        self._questions: PromptSession[str] = PromptSession()
        self._lock = trio.Lock()
        self._reading = False
        self._interrupted = False

    def shared_screen(self) -> AbstractContextManager[None]:
        """What is written to stdout and stderr during the block appears above the prompt."""
        return patch_stdout(raw=True)

    def write(self, text: str) -> None:
        """Write a line or several."""
        sys.stderr.write(visible(text) + "\n")
        sys.stderr.flush()

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None, None]:
        """Have the terminal for a block; the prompt for commands is interrupted."""
        if self._reading:
            self._interrupt(self._commands)
        async with self._lock:
            yield

    async def ask(self, question: str) -> str:
        """One answer, within `turn`; raises `EOFError` at Ctrl-D and Ctrl-C."""
        try:
            return await self._run(self._questions, visible(question))
        except KeyboardInterrupt:
            raise EOFError from None

    async def read_command(self) -> str:
        """The next command; raises `EOFError` at Ctrl-D, and returns nothing at Ctrl-C."""
        typed = ""
        while True:
            async with self._lock:
                self._reading = True
                try:
                    return await self._run(self._commands, PROMPT, typed)
                except _Interrupted as interrupted:
                    typed = str(interrupted)
                except KeyboardInterrupt:
                    return ""
                finally:
                    self._reading = False

    async def _run(self, session: PromptSession[str], message: str, typed: str = "") -> str:
        self._interrupted = False
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._interrupt_when_cancelled, session)
            # The thread holds the terminal in raw mode, so it is never abandoned: a cancellation ends the prompt in it.
            with trio.CancelScope(shield=True):
                outcome = await trio.to_thread.run_sync(partial(self._prompt, session, message, typed))
            nursery.cancel_scope.cancel("the prompt has ended")
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def _prompt(self, session: PromptSession[str], message: str, typed: str) -> str | BaseException:
        """Runs in the thread. The exception is returned: raised through the nursery it would be in a group."""
        try:
            return session.prompt(message, default=typed, pre_run=partial(self._check, session), handle_sigint=False)
        except (KeyboardInterrupt, EOFError, _Interrupted) as error:
            return error

    def _check(self, session: PromptSession[str]) -> None:
        if self._interrupted:  # between its start and now
            get_app().exit(exception=_Interrupted(session.default_buffer.text))

    async def _interrupt_when_cancelled(self, session: PromptSession[str]) -> None:
        try:
            await trio.sleep_forever()
        finally:
            self._interrupt(session)

    def _interrupt(self, session: PromptSession[str]) -> None:
        """End the prompt of `session` from the Trio side, or the one that is about to start."""
        self._interrupted = True  # first, as `_check` may run in its thread at this moment
        app = session.app
        if (loop := app.loop) is not None and app.is_running and not app.is_done:

            def exit_if_running() -> None:
                if app.is_running and not app.is_done:
                    app.exit(exception=_Interrupted(session.default_buffer.text))

            with suppress(RuntimeError):  # the loop has been closed: the prompt has ended by itself
                loop.call_soon_threadsafe(exit_if_running)
