"""`Profile`: all that differs between debug adapters, with the answers that suit most of them.

A profile has no state and starts nothing; it answers questions, and names the transport to open.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, ClassVar

from msgspec import Struct

from trio_debugmcp.dap.adapter import Adapter, open_socket_adapter, open_stdio_adapter
from trio_debugmcp.dap.messages import Capabilities, DapFrame, DapVariable
from trio_debugmcp.dap.watchdog import Watchdog
from trio_debugmcp.errors import AdapterGone


class Launch(Struct, frozen=True):
    """A program to start under the debugger; paths are absolute."""

    program: str
    args: tuple[str, ...] = ()
    cwd: str = "."
    env: Mapping[str, str] = {}
    stop_at_entry: bool = True
    just_my_code: bool = True
    options: Mapping[str, Any] = {}


class Attach(Struct, frozen=True):
    """A running program: by process id, or by the port on which an adapter listens for it."""

    pid: int | None = None
    host: str | None = None
    port: int | None = None
    options: Mapping[str, Any] = {}


class TypedException(Struct, frozen=True):
    """An exception breakpoint as far as an adapter is concerned; the type is `*` for all."""

    type: str
    first_chance: bool
    second_chance: bool


class Profile(ABC):
    """What we know about one debug adapter."""

    name: ClassVar[str]
    """The adapter's own name, by which users ask for it."""

    language: ClassVar[str]

    file_suffixes: ClassVar[frozenset[str]] = frozenset()
    """Kinds of files that a launch without an `adapter` hands to this one."""

    install_hint: ClassVar[str]
    """The command that installs the adapter."""

    evaluate_context: ClassVar[str] = "watch"
    """The DAP evaluate context in which an expression means what the language says."""

    reserved_options: ClassVar[Mapping[str, str]] = {
        "program": "program",
        "args": "args",
        "cwd": "cwd",
        "env": "env",
        "console": "console",
        "stopOnEntry": "stop_at_entry",
        "justMyCode": "just_my_code",
        "request": "",
        "type": "",
    }
    """Arguments of the launch request that `adapter_options` may not set, and the parameter that does."""

    code_options: ClassVar[frozenset[str]] = frozenset()
    """Options that name what is run in some other way than by a program's path."""

    scope_names: ClassVar[Mapping[str, str]] = {
        "locals": "locals",
        "arguments": "arguments",
        "globals": "globals",
    }
    """Our scope names to a word in the adapter's."""

    pause_echo_seconds: ClassVar[float] = 0.0
    """How long after a stop that a `pause` has crossed the adapter may report that stop once more."""

    @abstractmethod
    def locate(self) -> str | None:
        """Where the adapter is on this machine, in words for a person; None if it is not here."""

    @abstractmethod
    def command(self) -> Sequence[str]:
        """The command line that runs the adapter on standard streams."""

    @abstractmethod
    def launch_arguments(self, launch: Launch) -> dict[str, Any]:
        """The arguments of DAP `launch`, with the program in a terminal that we provide."""

    @abstractmethod
    def attach_arguments(self, attach: Attach) -> dict[str, Any]:
        """The arguments of DAP `attach`."""

    def open(self, watchdog: Watchdog) -> AbstractAsyncContextManager[Adapter]:
        """Run the adapter for one session."""
        return open_stdio_adapter(self.command(), watchdog)

    def open_attached(self, attach: Attach, watchdog: Watchdog) -> AbstractAsyncContextManager[Adapter]:
        """Reach the adapter that will attach: our own, or the one that listens on the port."""
        if attach.port is not None:
            return open_socket_adapter(attach.host or "127.0.0.1", attach.port)
        return self.open(watchdog)

    def serves_child(self, configuration: Mapping[str, Any]) -> bool:
        """Whether a child session that is announced with this configuration can be reached."""
        return False

    def open_child(self, configuration: Mapping[str, Any]) -> AbstractAsyncContextManager[Adapter]:
        """Reach the adapter of a child session that `serves_child` has agreed to."""
        raise AdapterGone(f"child sessions of {self.name} are not supported")

    def attach_problem(self, attach: Attach) -> str | None:
        """Why attaching cannot work on this machine, said before it is tried."""
        return None

    def has_lost_program(self, refusal: str) -> bool:
        """Whether that is how the adapter refuses what it was asked when the program has just ended."""
        return False

    def settings_requests(self, capabilities: Capabilities) -> list[tuple[str, dict[str, Any]]]:
        """Requests of the adapter's own, sent with the configuration; their failure is ignored."""
        return []

    def runtime_request(self) -> tuple[str, Any] | None:
        """A request of the adapter's own whose answer tells the runtime's version."""
        return None

    def runtime_version(self, body: Mapping[str, Any]) -> str | None:
        """The runtime's version from that answer."""
        return None

    def is_path(self, expression: str) -> bool:
        """Whether an expression only leads to a variable, and so may be evaluated where nothing may be changed."""
        return True

    def log_message_problem(self, message: str) -> str | None:
        """What is wrong with a log message, as far as it can be told without running it."""
        return None

    def syntax_error(self, expression: str) -> str | None:
        """What is wrong with an expression, as far as it can be told without running it."""
        return None

    def program_problem(self, program: str, source: bytes) -> str | None:
        """Why a program cannot even start: its syntax."""
        return None

    def condition_failure(self, output: str) -> tuple[str, str] | None:
        """The condition and the error, if this output reports a condition that failed."""
        return None

    def log_message(self, breakpoint_id: str, message: str) -> str:
        """A log message that can be told from program output, and traced back to its breakpoint."""
        return f"\x02{breakpoint_id}\x03{message}"

    def exception_arguments(self, wanted: Sequence[TypedException], capabilities: Capabilities) -> dict[str, Any]:
        """The arguments of `setExceptionBreakpoints` that stop at least for what is wanted."""
        offered = [each.filter for each in capabilities.exception_breakpoint_filters or ()]
        uncaught = [name for name in offered if "uncaught" in name.lower() or "unhandled" in name.lower()]
        raised = [name for name in offered if name not in uncaught]
        filters = []
        if any(each.first_chance for each in wanted):
            filters += raised
        if any(each.second_chance for each in wanted):
            filters += uncaught
        return {"filters": filters}

    def exception_types(self) -> Sequence[str]:
        """Types of exceptions that every program of the language knows, to be offered to who types one."""
        return ()

    def lineage_expression(self) -> str | None:
        """An expression that, at an exception stop, gives the type and its ancestors, most derived first."""
        return None

    def parse_lineage(self, result: str) -> tuple[str, ...]:
        """The type names in the value of `lineage_expression`."""
        return ()

    def raise_identity_expression(self) -> str | None:
        """An expression that, at an exception stop, tells one raised exception from another."""
        return None

    def causes_expression(self, most: int) -> str | None:
        """An expression that, at an exception stop, gives a string literal of JSON: `[[type, message], …]`."""
        return None

    def truth_expression(self, condition: str) -> str:
        """An expression whose value is `true` or `1`, in any case, when the condition holds."""
        return condition

    def hides(self, variable: DapVariable) -> bool:
        """Whether a variable is only a group that the adapter invented."""
        return False

    def line_of(self, frame: DapFrame) -> int | None:
        """The line of a frame that the adapter gave line 0."""
        return None

    def module_name(self, frame: DapFrame) -> str | None:
        """The module that a frame belongs to."""
        return None if frame.module_id is None else str(frame.module_id)
