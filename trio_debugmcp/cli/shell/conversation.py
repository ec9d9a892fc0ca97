"""One run of the shell: a connection, a prompt, and what happens meanwhile.

    await serve_person(args)

The connection comes back by itself when it is lost; the shell reports both. Ctrl-C ends the running command only.
"""

import argparse
import signal
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import trio

from trio_debugmcp.cli._notices import Notices, open_notices
from trio_debugmcp.cli._person import LineTerminal, Person, Terminal
from trio_debugmcp.cli._servers import choose, has_terminal
from trio_debugmcp.cli._target import Failure, as_failure
from trio_debugmcp.cli.shell.display import Display
from trio_debugmcp.cli.shell.prompt import Proposal, proposals
from trio_debugmcp.cli.shell.shell_commands import Commands, Quit
from trio_debugmcp.installation import with_package

if TYPE_CHECKING:  # `serve` must start without the client
    from trio_debugmcp.client import EventKind, EventStream, InspectorClient

MISSING = f"Without prompt_toolkit the prompt has no completion and no history: {with_package('prompt_toolkit')}"

CHANGES: tuple["EventKind", ...] = (
    *("resourceUpdated", "toolsChange", "resourcesChange", "resourceTemplatesChange", "promptsChange"),
    *("connect", "disconnect"),
)
"""What is reported above the prompt."""


async def serve_person(args: argparse.Namespace) -> None:
    """Connect, and run what is typed until the end of the input.

    Raises:
        Failure: without a terminal, the first command that failed.
    """
    from trio_debugmcp.client import InspectorClient, Reconnect

    interactive = has_terminal()
    notices = Notices(enabled=args.verbose if args.verbose is not None else interactive, draws=not interactive)
    proposer = _Proposer()
    with ExitStack() as stack:
        terminal = _open_terminal(stack, proposer) if interactive else LineTerminal()
        person = Person(terminal if interactive else None, notices.write)
        target, options = choose(
            args,
            args.words,
            connect_timeout=args.timeout,
            request_timeout=args.timeout,
            reconnect=Reconnect() if interactive else None,
            on_log=notices.on_log,
            **person.options(args.root),
        )
        client = proposer.client = InspectorClient(target, options)
        shell = _Shell(client, terminal, Display(as_json=args.format == "json"))
        async with open_notices(client, notices), client:
            if interactive:
                async with client.events(*CHANGES) as changes:
                    await shell.talk(changes)
            else:
                await shell.obey()


class _Proposer:
    """Completes lines, once there is a client: the prompt, where its OAuth may ask, is there before it."""

    def __init__(self) -> None:
        self.client: InspectorClient | None = None

    async def __call__(self, before: str) -> list[Proposal]:
        return [] if self.client is None else await proposals(before, self.client)


def _open_terminal(stack: ExitStack, propose: _Proposer) -> Terminal:
    """The prompt of prompt_toolkit if it is installed, else plain lines."""
    try:
        from trio_debugmcp.cli.shell.prompt import PromptTerminal
    except ImportError:
        terminal = LineTerminal()
        terminal.write(MISSING)
        return terminal
    prompt = PromptTerminal(propose)
    stack.enter_context(prompt.shared_screen())
    return prompt


class _Shell:
    """Reads lines and runs them."""

    def __init__(self, client: "InspectorClient", terminal: Terminal, display: Display) -> None:
        self._client = client
        self._terminal = terminal
        self._commands = Commands(client, display)
        self._running: trio.CancelScope | None = None

    async def obey(self) -> None:
        """Run the lines of an input that is not a terminal, as far as they succeed."""
        try:
            while True:
                await self._commands.run(await self._terminal.read_command())
        except (EOFError, Quit):
            pass

    async def talk(self, changes: "EventStream[Any]") -> None:
        """Run what a person types; errors are shown and change nothing."""
        info = self._client.server_info
        name = f"{info.name} {info.version}" if info is not None else "a server without a name"
        self._terminal.write(f"Connected to {name} ({self._client.protocol_version}); help lists the commands")
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._follow, signals, nursery.cancel_scope)
                nursery.start_soon(_report, changes, self._terminal)
                try:
                    while True:
                        await self._run(await self._terminal.read_command())
                except (EOFError, Quit):
                    nursery.cancel_scope.cancel("the person leaves")

    async def _run(self, line: str) -> None:
        from mcp import MCPError

        from trio_debugmcp.errors import DebugError

        failed: Any = None
        with trio.CancelScope() as self._running:
            try:
                await self._commands.run(line)
            except (Failure, DebugError, MCPError, OSError) as error:
                failed = as_failure(error)
        self._running = None
        if failed is not None:
            self._terminal.write(str(failed))

    async def _follow(self, signals: Any, everything: trio.CancelScope) -> None:
        """Ctrl-C cancels the running command; other signals end the shell, once the terminal is as it was."""
        async for number in signals:
            if number != signal.SIGINT:
                everything.cancel("a signal asked to stop")
            elif self._running is not None:
                self._running.cancel("Ctrl-C")


async def _report(changes: "EventStream[Any]", terminal: Terminal) -> None:
    """Show what changes, until the connection is closed for good."""
    async for event in changes:
        fields: Any = event
        match event.kind:
            case "resourceUpdated":
                terminal.write(f"changed: {fields.uri}")
            case "connect":
                terminal.write("connected again")
            case "disconnect":
                terminal.write(f"disconnected: {fields.reason}")
            case kind:
                for how in ("added", "removed", "changed"):
                    if names := getattr(fields, how):
                        terminal.write(f"{kind.removesuffix('Change')} {how}: {', '.join(names)}")
