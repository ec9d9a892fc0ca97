"""`Profile`: everything that differs between debug adapters, with defaults that suit most of them.

A profile has no state and starts nothing; it answers questions and names the transport to open. The questions are in
three groups: `Profile` itself knows how an adapter is found, started, reached and what its start arguments are; its
`dialect` knows what this adapter's messages mean, its `words` what its texts do; its `expressions` know the debugged
language.

    class Gdb(Profile):
        name, language, install_hint = "gdb", "C", "apt install gdb"

        def locate(self) -> str | None:
            return shutil.which("gdb")

        def open(self, launch: Launch, runtime: Runtime) -> AbstractAsyncContextManager[Adapter]:
            return open_stdio_adapter(["gdb", "--interpreter=dap"], runtime.watchdog)

        def open_attached(self, attach: Attach, runtime: Runtime) -> AbstractAsyncContextManager[Adapter]:
            return open_stdio_adapter(["gdb", "--interpreter=dap"], runtime.watchdog)

        def launch_arguments(self, launch: Launch) -> dict[str, Any]:
            return {"program": launch.program, "args": list(launch.args), **launch.options}

        def attach_arguments(self, attach: Attach) -> dict[str, Any]:
            return {"pid": attach.pid, **attach.options}
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, ClassVar, Literal

from msgspec import Struct

from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.dial_in import DialIns
from trio_debugmcp.dap.messages import Capabilities, DapFrame, DapVariable
from trio_debugmcp.dap.process import Watchdog
from trio_debugmcp.dap.profiles.adapter_values import AdapterValues, Words
from trio_debugmcp.dap.profiles.compilers import Build
from trio_debugmcp.dap.profiles.detection import Detect
from trio_debugmcp.dap.profiles.exception_filters import TypedException, filter_arguments
from trio_debugmcp.dap.profiles.habits import Habits
from trio_debugmcp.dap.profiles.language import Code, Expressions, LanguagePrograms, Repl
from trio_debugmcp.dap.profiles.native.symbol_listing import SymbolCommands
from trio_debugmcp.dap.profiles.recordings import Recordings
from trio_debugmcp.dap.profiles.starts import Attach, Launch, Listen
from trio_debugmcp.dap.profiles.thrown import Thrown
from trio_debugmcp.dap.sockets import SocketAddress
from trio_debugmcp.engine import WantedEngine
from trio_debugmcp.errors import AdapterGone
from trio_debugmcp.patience import Patience


class Runtime(Struct, frozen=True):
    """What opening an adapter takes: the watchdog of its processes, and the door for programs that dial in.

    `engine`: of Python programs whose launch does not say which.
    """

    watchdog: Watchdog
    dial_ins: DialIns
    engine: WantedEngine = "auto"

    @property
    def patience(self) -> Patience:
        """How long processes and programs are waited for."""
        return self.watchdog.patience


class Dialect:
    """What one adapter's messages mean: its own requests, its errors and its output. The defaults follow the DAP."""

    evaluate_context: ClassVar[str] = "watch"
    """The DAP evaluate context in which an expression means what the language defines."""

    scope_names: ClassVar[Mapping[str, str]] = {
        "locals": "local",
        "arguments": "argument",
        "globals": "global",
    }
    """Our scope name → a word that the adapter's name of that scope contains, or its hint."""

    one_breakpoint_per_line: ClassVar[bool] = False
    """Whether of several breakpoints on one line the adapter only observes the last; columns do not tell them apart."""

    column: ClassVar[int | None] = None
    """The column of every frame, of an adapter that knows only lines and says so."""

    running_context: ClassVar[str | None] = None
    """The DAP evaluate context in which the adapter evaluates in no frame while the program runs; None: it does not."""

    call_reason: ClassVar[str | None] = None
    """The reason of the `stopped` that follows when an evaluation has called a function of the program.

    Before it comes `continued`. Both are about the stop at hand, whose frames have other ids from then on.
    """

    pause_echo_seconds: ClassVar[float] = 0.0
    """How long after a stop that crossed a `pause` the adapter may report that stop once more."""

    # --- Its own requests ------------------------------------------------------------------------------------

    def settings_requests(self, capabilities: Capabilities) -> list[tuple[str, dict[str, Any]]]:
        """Requests outside the DAP that are sent with the configuration; their failure is ignored."""
        return []

    def runtime_request(self) -> tuple[str, Any] | None:
        """A request outside the DAP whose answer contains the runtime's version."""
        return None

    def runtime_facts(self, body: Mapping[str, Any], capabilities: Capabilities) -> tuple[str, str, bool] | None:
        """The runtime's version, from the answer to `runtime_request`; what debugs it, and whether that is usual."""
        return None

    def exception_arguments(self, wanted: Sequence[TypedException], capabilities: Capabilities) -> dict[str, Any]:
        """The arguments of a `setExceptionBreakpoints` that stops at least for what is wanted."""
        return filter_arguments(wanted, capabilities)

    # --- Its errors and output -------------------------------------------------------------------------------

    def has_lost_program(self, refusal: str) -> bool:
        """Whether the adapter refuses requests with this text after the program has just ended."""
        return False

    def condition_failure(self, output: str) -> tuple[str, str] | None:
        """The condition and the error, if this output reports that a breakpoint's condition failed."""
        return None

    def log_message(self, breakpoint_id: str, message: str) -> str:
        """Mark a log message, so that its output differs from the program's and names its breakpoint."""
        return f"\x02{breakpoint_id}\x03{message}"

    def exception_kind(self, kind: str, mode: str | None) -> tuple[str, str | None]:
        """The type of an exception and its break mode, from what the adapter says of them."""
        return kind, mode

    def where_it_leaves(self, expression: str) -> str:
        """An expression about the exception at a stop, for one where it leaves the user's code."""
        return expression

    def returns(self) -> str | None:
        """An expression for whether the frame that an exception is said to leave returns: it has caught it.

        Its value is `true` or `1` if so, in any case of letters. None where the adapter can be believed.
        """
        return None

    def misses_uncaught_in_code(self) -> str | None:
        """An expression for whether an uncaught exception of a program that is given as code is not reported as such.

        Its value is `true` or `1` if so. None where all are.
        """
        return None

    # --- Its frames and variables ----------------------------------------------------------------------------

    def hides(self, variable: DapVariable) -> bool:
        """Whether the adapter made this variable up, for example to group others."""
        return False

    def function_name(self, name: str) -> str:
        """The function of a frame, from the frame's name."""
        return name

    def line_of(self, function: str) -> int | None:
        """The line of a frame that the adapter reports in line 0, by the frame's name."""
        return None

    def module_name(self, frame: DapFrame) -> str | None:
        """The module that a frame belongs to."""
        return None if frame.module_id is None else str(frame.module_id)


class Profile(ABC):
    """One debug adapter: how it is found, started and reached, and the arguments of `launch` and `attach`.

    A method for each way in which adapters differ, hence so many.
    """

    name: str
    """The adapter's own name, by which users select it."""

    language: str

    detect: Detect = Detect()
    """The programs for which a launch without an `adapter` selects this one."""

    builds: Sequence[Build] = ()
    """How programs are built that the adapter does not run as they are written; the first that is for one counts."""

    types: frozenset[str] = frozenset()
    """The `type` of a configuration in launch.json that is for this adapter."""

    reserved_options: Mapping[str, str] = {
        "program": "program",
        "args": "args",
        "cwd": "cwd",
        "env": "env",
        "console": "console",
        "stopOnEntry": "stop_at_entry",
        "justMyCode": "just_my_code",
        "record": "record",
        "request": "",
        "type": "",
    }
    """Arguments of the launch request that `adapter_options` may not set → the tool parameter that sets them."""

    target_options: frozenset[str] = frozenset()
    """Options that say what is run, in place of a program's path."""

    code_options: frozenset[str] = frozenset()
    """Options by which other code is run than the program, or the program by another; not on a confined server."""

    symbols: SymbolCommands | None = None
    """Commands that search types and functions, if there are such."""

    renew: str | None = None
    """A command, evaluated as `repl`, without which the adapter shows values that it has shown as they were then."""

    has_probe: bool = False
    """Whether the probe can be put into programs of this adapter: Python under pydevd."""

    @property
    def records_hits(self) -> bool:
        """Whether programs judge breakpoints themselves and record their hits, as those of Python do."""
        return self.has_probe

    @property
    def prints_tracebacks(self) -> bool:
        """Whether programs print the exceptions that end them, with their stacks."""
        return self.has_probe

    @property
    def evaluates_running(self) -> bool:
        """Whether an evaluation in no frame is answered while the program runs, as it is by pydevd."""
        return self.has_probe

    attaches_by_pid: bool = True

    takes_input: bool = True
    """Whether a program that it launches has a standard input into which something can be written."""

    maps_paths: bool = False
    maps_one_path: bool = False
    """Whether it can map where the program has the files of this machine, and of no more than one directory."""
    reads_cores: bool = False
    reads_minidumps: bool = False
    """Whether it looks at core files, what the system keeps of a program that has crashed, and at those of Breakpad."""

    traces: bool = False
    """Whether it attaches by tracing the process, as the system has to allow."""

    habits: Habits = Habits()

    dialect: Dialect = Dialect()

    words: Words = Words()

    values: AdapterValues = AdapterValues()

    thrown: Thrown = Thrown()

    expressions: Expressions = Expressions()

    code: Code = Code()

    repl: Repl = Repl()

    programs: LanguagePrograms = LanguagePrograms()

    recordings: Recordings = Recordings()

    @property
    @abstractmethod
    def install_hint(self) -> str:
        """The command that installs the adapter."""

    @abstractmethod
    def locate(self) -> str | None:
        """Where the adapter is on this machine, in words for a person; None if it is not installed."""

    async def learn_version(self, patience: Patience) -> None:
        """Ask the adapter for what `locate` needs to know of it, which then answers at once."""
        return  # most are found without being run

    def absence(self) -> str:
        """Why `locate` has found nothing."""
        return f"The debug adapter {self.name} is not installed"

    def is_called(self, wanted: str) -> bool:
        """Whether this is the adapter's name, or that of a language of its."""
        languages = self.language.lower().split(", ")
        return wanted.lower() in (self.name.lower(), self.language.lower(), *languages)

    @abstractmethod
    def open(self, launch: Launch, runtime: Runtime) -> AbstractAsyncContextManager[Adapter]:
        """Run the adapter for one launch."""

    # --- Launch and attach -----------------------------------------------------------------------------------

    def runs_here(self, start: Launch | Attach | Listen) -> bool:
        """Whether the program's process id is one of this machine, so that py-spy can look into it."""
        return False

    def start_request(self, start: Launch | Attach) -> Literal["launch", "attach"]:
        """The DAP request that starts a session; an adapter that is the program may have to be attached to."""
        return "launch" if isinstance(start, Launch) else "attach"

    @abstractmethod
    def launch_arguments(self, launch: Launch) -> dict[str, Any]:
        """The arguments of the request that launches, with the program in a terminal that we provide."""

    @abstractmethod
    def attach_arguments(self, attach: Attach) -> dict[str, Any]:
        """The arguments of DAP `attach`."""

    def attach_problem(self, attach: Attach) -> str | None:
        """Why attaching cannot work on this machine; asked before it is tried."""
        return None

    @abstractmethod
    def open_attached(self, attach: Attach, runtime: Runtime) -> AbstractAsyncContextManager[Adapter]:
        """Open the adapter that is going to attach: our own, or the one that listens on the port."""

    def open_listening(self, listen: Listen, runtime: Runtime) -> AbstractAsyncContextManager[Adapter]:
        """Open the door where programs dial in by themselves; each is announced as a child."""
        raise AdapterGone(f"programs of {self.name} cannot dial in")

    # --- Child sessions --------------------------------------------------------------------------------------

    def serves_child(self, configuration: Mapping[str, Any]) -> bool:
        """Whether a child session that is announced with this configuration can be reached."""
        return False

    def child_outlives_parent(self, configuration: Mapping[str, Any]) -> bool:
        """Whether a child's connection is its own, so that it is still debugged when its parent has ended."""
        return False

    def open_child(
        self, configuration: Mapping[str, Any], runtime: Runtime, parent: SocketAddress | None
    ) -> AbstractAsyncContextManager[Adapter]:
        """Connect to the adapter of a child session; only called if `serves_child` returned True for it.

        `parent`: where the adapter of the parent session listens, if on a socket.
        """
        raise AdapterGone(f"child sessions of {self.name} are not supported")
