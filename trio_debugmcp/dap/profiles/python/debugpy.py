"""debugpy: Python. It is a dependency of this package, so Python debugging works with nothing else installed.

Known oddities that shape this file:
- it never answers a request whose capability it did not declare, nor any request after that one;
- the text of a log point is plain program output unless it carries a mark;
- it silently skips a condition that fails, unless `setDebuggerProperty` disables that;
- it looks up an exception type by importing it, so the program's own types have to be filtered here;
- child processes wait until a client attaches to them;
- it serves one request at a time and holds back events meanwhile: a request about a thread that has been resumed is
  not answered before that thread stops again, and neither is any other.
"""

import builtins
import importlib.util
import re
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from trio_debugmcp.dap.adapter import Adapter, open_socket_adapter
from trio_debugmcp.dap.direct import open_caller, open_guest, open_injected, open_launched
from trio_debugmcp.dap.direct_stream import PROGRAM_ENDED
from trio_debugmcp.dap.listen_stream import open_listening
from trio_debugmcp.dap.messages import Capabilities, DapFrame, DapVariable, RunInTerminal
from trio_debugmcp.dap.process import environment
from trio_debugmcp.dap.profiles.adapter_values import Words
from trio_debugmcp.dap.profiles.detection import Detect
from trio_debugmcp.dap.profiles.exception_filters import TypedException
from trio_debugmcp.dap.profiles.language import Code, Expressions, LanguagePrograms, Repl
from trio_debugmcp.dap.profiles.profile import Dialect, Profile, Runtime
from trio_debugmcp.dap.profiles.python import notebooks
from trio_debugmcp.dap.profiles.python.code_files import PythonCode, module_at, without_guard
from trio_debugmcp.dap.profiles.python.dialing_pydevd import debugpy_package, dial_arguments
from trio_debugmcp.dap.profiles.python.engines import chosen_engine, engine_of_process, usual_engine
from trio_debugmcp.dap.profiles.python.exception_names import PythonThrown
from trio_debugmcp.dap.profiles.python.expressions import RETURNS, PythonExpressions, where_it_leaves
from trio_debugmcp.dap.profiles.python.injection import injection_problem
from trio_debugmcp.dap.profiles.python.pydevd_messages import PythonWords, for_pydevd
from trio_debugmcp.dap.profiles.python.recordable import PythonRecordings
from trio_debugmcp.dap.profiles.python.repl import PythonRepl
from trio_debugmcp.dap.profiles.python.runnable import (
    GENERATED,
    UNFROZEN,
    PythonPrograms,
    interpreter_command,
    names_gevent,
    refuse_pydevd,
    target_words,
)
from trio_debugmcp.dap.profiles.recordings import Recordings
from trio_debugmcp.dap.profiles.starts import Attach, Launch, Listen, PathMapping
from trio_debugmcp.dap.profiles.thrown import Thrown
from trio_debugmcp.dap.sockets import SocketAddress, TcpAddress
from trio_debugmcp.engine.carrier import INJECTOR
from trio_debugmcp.installation import with_package

_CONDITION_FAILED = re.compile(
    r"Error while evaluating expression in conditional breakpoint: (?P<condition>.*?)\n"
    r"(?P<trace>(?:Traceback|  File |\w+Error).*)",
    re.DOTALL,
)
_LOST_PROGRAM = re.compile(r"Server\[[^]]*\] disconnected unexpectedly")
_CHAINED = re.compile(r"^\[Chained Exc: .*\] (?=\S+$)", re.DOTALL)
_LEAVING = "(note: full exception trace is shown"
_GROUPS = frozenset({"special variables", "function variables", "class variables", "return values"})


class DebugpyDialect(Dialect):
    """debugpy's messages, and those of pydevd, the debugger inside the program."""

    evaluate_context: ClassVar[str] = "repl"
    one_breakpoint_per_line: ClassVar[bool] = True
    column: ClassVar[int | None] = 1
    pause_echo_seconds: ClassVar[float] = 0.7  # pydevd reports it after half a second

    def settings_requests(self, capabilities: Capabilities) -> list[tuple[str, dict[str, Any]]]:
        """Have a condition that fails reported, and the program stopped there, instead of silently skipped."""
        if not capabilities.supports_debugger_properties:
            return []
        return [
            (
                "setDebuggerProperty",
                {"skipSuspendOnBreakpointException": [], "skipPrintBreakpointException": []},
            )
        ]

    def runtime_request(self) -> tuple[str, Any] | None:
        return "pydevdSystemInfo", None

    def runtime_facts(self, body: Mapping[str, Any], capabilities: Capabilities) -> tuple[str, str, bool] | None:
        """For example `CPython 3.11.7`, which pydevd spells `3.11.7final0`."""
        python = body.get("python") or {}
        version = re.match(r"[\d.]+", str(python.get("version", "")))
        implementation = str((python.get("implementation") or {}).get("name", "Python"))
        name = {"cpython": "CPython", "pypy": "PyPy"}.get(implementation.lower(), implementation)
        if version is None:
            return None
        runtime, engine = f"{name} {version[0]}", "own" if capabilities.engine_requests else "pydevd"
        return runtime, engine, engine == usual_engine(runtime)

    def exception_arguments(self, wanted: Sequence[TypedException], capabilities: Capabilities) -> dict[str, Any]:
        """Name builtin types, so that other raises cost nothing; all other types are filtered at the stop."""
        # pydevd stops where a test has failed because the runner asks it to: dap/profiles/python/failed_tests.py.
        fails = "failsTest" if capabilities.engine_requests else "unhandled"
        modes = {
            (exception.type if isinstance(getattr(builtins, exception.type, None), type) else "BaseException", mode)
            for exception in wanted
            for mode, asked in (
                ("always", exception.first_chance),
                ("unhandled", exception.second_chance),
                (fails if exception.fails_test else "userUnhandled", exception.user_unhandled),
            )
            if asked
        }
        options = [
            {"path": [{"names": ["Python Exceptions"]}, {"names": [name]}], "breakMode": mode}
            for name, mode in sorted(modes)
        ]
        return {"filters": [], **({"exceptionOptions": options} if options else {})}

    def has_lost_program(self, refusal: str) -> bool:
        # Some tenths of a second pass between the program's end and `terminated`.
        return refusal == PROGRAM_ENDED or _LOST_PROGRAM.fullmatch(refusal) is not None

    def condition_failure(self, output: str) -> tuple[str, str] | None:
        """Take the condition and the last line of the traceback from pydevd's report."""
        found = _CONDITION_FAILED.search(output)
        if found is None:
            return None
        return without_guard(found["condition"]), found["trace"].strip().rpartition("\n")[2]

    def log_message(self, breakpoint_id: str, message: str) -> str:
        return super().log_message(breakpoint_id, for_pydevd(message))

    def hides(self, variable: DapVariable) -> bool:
        """Hide pydevd's groups, which have no value, and the variable that it leaves in the frame."""
        return (variable.name in _GROUPS and not variable.value) or variable.name == "__exception__"

    def exception_kind(self, kind: str, mode: str | None) -> tuple[str, str | None]:
        # Only of an exception that leaves the user's code pydevd says more than the type, and calls its mode `always`.
        bare, note, _ = kind.partition(_LEAVING)
        return (bare.rstrip(), mode if mode == "unhandled" else "userUnhandled") if note else (kind, mode)

    def where_it_leaves(self, expression: str) -> str:
        return where_it_leaves(expression)

    def returns(self) -> str | None:
        return RETURNS

    def misses_uncaught_in_code(self) -> str | None:
        return "__import__('sys').version_info >= (3, 12)"

    def function_name(self, name: str) -> str:
        # The frames of the exceptions behind it stand below its own, and did not call these.
        bare = _CHAINED.sub("", name.removesuffix(" (Current frame)"))
        return f"{bare} (of a cause)" if name.startswith("[Chained Exc: ") else bare

    def line_of(self, function: str) -> int | None:
        # Since Python 3.11 a module that is about to start is in line 0, which stands for its first line.
        return 1 if function == "<module>" else None

    def module_name(self, frame: DapFrame) -> str | None:
        """Derive the module from the file's name, as `import` does: pydevd reports none in frames."""
        return module_at(frame.source.path) if frame.source is not None and frame.source.path else None


@cache
def _installed_version(origin: str, changed: int) -> str:
    """Return the version of debugpy, read once as long as the file of the package stays the same."""
    from importlib.metadata import version  # which comes with the parsers of mails and of archives

    return version("debugpy")


_ENDS_WITH_PROGRAM = "endsWithProgram"
"""Argument of ours for the children of a program that was launched here: where that is ended, they are."""

_INHERITED = ("pathMappings", "justMyCode", "redirectOutput", "showReturnValue", _ENDS_WITH_PROGRAM, "record")
"""Arguments of a launch or attach request that hold for children, too."""


class Debugpy(Profile):
    """The embedded adapter, which runs with the Python of this server."""

    name: str = "debugpy"
    language: str = "Python"
    detect: Detect = Detect(suffixes=(".py", ".pyw", ".pyz", notebooks.SUFFIX), interpreters=("python", "pypy"))
    types: frozenset[str] = frozenset({"python", "debugpy"})
    install_hint: str = with_package("debugpy")
    target_options: frozenset[str] = frozenset({"module", "code"})
    code_options: frozenset[str] = frozenset({"module", "code", "rules", "python", "pythonPath", "pythonArgs"})
    has_probe: bool = True
    maps_paths: bool = True
    traces: bool = True
    dialect: Dialect = DebugpyDialect()
    words: Words = PythonWords()
    expressions: Expressions = PythonExpressions()
    code: Code = PythonCode()
    thrown: Thrown = PythonThrown()
    repl: Repl = PythonRepl()
    programs: LanguagePrograms = PythonPrograms()
    recordings: Recordings = PythonRecordings()

    def locate(self) -> str | None:
        """The folder of the installed package, and its version."""
        spec = importlib.util.find_spec("debugpy")
        if spec is None or spec.origin is None:
            return None
        changed = Path(spec.origin).stat().st_mtime_ns
        return f"{Path(spec.origin).parent} ({_installed_version(spec.origin, changed)})"

    @asynccontextmanager
    async def open(self, launch: Launch, runtime: Runtime) -> AsyncIterator[Adapter]:
        """Open the direct line: the program dials in, with no adapter between."""
        command = interpreter_command(launch.interpreter, launch.options)
        env = {"PYTHONUNBUFFERED": "1", **dict.fromkeys(launch.unset), **launch.env}
        if await chosen_engine(command, launch.options, runtime.engine, runtime.patience) == "own":
            carrier = await runtime.dial_ins.carrier()
            env["PYTHONPATH"] = carrier.python_path(environment(env).get("PYTHONPATH"))
            wanted = RunInTerminal(args=[*command, *target_words(launch)], cwd=launch.cwd, env=env)
        else:
            refuse_pydevd(launch, command)
            address = await runtime.dial_ins.listen()
            dial = [*UNFROZEN, debugpy_package(), *dial_arguments(address, launch.options)]
            # Without it pydevd waits on locks that gevent has replaced, and the stop answers nothing.
            gevent = {"GEVENT_SUPPORT": "True"} if names_gevent(launch) else {}
            env = {"PYDEVD_DISABLE_FILE_VALIDATION": "1", **gevent, **env}
            wanted = RunInTerminal(args=[*command, *dial, *target_words(launch)], cwd=launch.cwd, env=env)
        children = _child_arguments({**self.launch_arguments(launch), _ENDS_WITH_PROGRAM: True})
        async with open_launched(wanted, runtime.dial_ins, children) as adapter:
            yield adapter

    @asynccontextmanager
    async def open_attached(self, attach: Attach, runtime: Runtime) -> AsyncIterator[Adapter]:
        """Put the debugger into a process, which dials in; or connect to one that listens."""
        if attach.pid is None:
            async with open_socket_adapter(
                TcpAddress(attach.host or "127.0.0.1", attach.port or 0), runtime.patience
            ) as adapter:
                yield adapter
            return
        if await engine_of_process(attach.pid, attach.options, runtime.engine, runtime.patience) == "own":
            carrier = await runtime.dial_ins.carrier()
            command = [sys.executable, str(INJECTOR), str(attach.pid), carrier.late]
        else:
            door = await runtime.dial_ins.listen()
            command = [
                sys.executable,
                debugpy_package(),
                *dial_arguments(door, attach.options),
                "--pid",
                str(attach.pid),
            ]
        children = _child_arguments(self.attach_arguments(attach))
        async with open_injected(attach.pid, command, runtime.dial_ins, runtime.watchdog, children) as adapter:
            yield adapter

    def open_listening(self, listen: Listen, runtime: Runtime) -> AbstractAsyncContextManager[Adapter]:
        # As of one that is attached to: its streams are not ours, and what it prints is to be had from pydevd only.
        children = {**_child_arguments({}), "redirectOutput": True, **_mapped(listen.path_mappings)}
        return open_listening(listen.host, listen.port, listen.token, runtime.dial_ins, children, listen.tls)

    def runs_here(self, start: Launch | Attach | Listen) -> bool:
        return isinstance(start, Launch) or (isinstance(start, Attach) and start.pid is not None)

    def launch_arguments(self, launch: Launch) -> dict[str, Any]:
        """Launch in a terminal that we provide: this way the program's standard streams are ours."""
        env = {"PYTHONUNBUFFERED": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1", **launch.env}
        target = {} if {"module", "code"} & launch.options.keys() else {"program": launch.program}
        return {
            "name": Path(launch.program).name,
            "type": "python",
            "request": "launch",
            **target,
            "args": list(launch.args),
            "cwd": launch.cwd,
            "env": env,
            "python": [launch.interpreter or sys.executable],
            "console": "integratedTerminal",
            "stopOnEntry": launch.stop_at_entry,
            "justMyCode": launch.just_my_code,
            "subProcess": True,
            # Its streams are ours; otherwise pydevd reports once more what an evaluation prints.
            "isOutputRedirected": True,
            "showReturnValue": True,
            "rules": [*notebooks.rules(launch.program), *GENERATED],
            **_mapped(launch.path_mappings),
            **({} if launch.recording is None else {"record": launch.recording.arguments()}),
            **launch.options,
        }

    def attach_arguments(self, attach: Attach) -> dict[str, Any]:
        """Attach by process id, or over a connection to the program, which then is its own adapter."""
        arguments = {
            "name": "attach",
            "type": "python",
            "request": "attach",
            "justMyCode": True,
            # Its streams are not ours: what it prints is to be had from pydevd only.
            "redirectOutput": True,
            "showReturnValue": True,
            "rules": list(GENERATED),
            **_mapped(attach.path_mappings),
            **attach.options,
        }
        if attach.pid is not None:
            arguments["processId"] = attach.pid
        return arguments

    def attach_problem(self, attach: Attach) -> str | None:
        return None if attach.pid is None else injection_problem(attach.pid, Path("/proc"))

    def serves_child(self, configuration: Mapping[str, Any]) -> bool:
        # A child has dialed in, or, of a program that listens, its parent announces an address in `connect`.
        connect = configuration.get("connect")
        return "dialedIn" in configuration or (isinstance(connect, dict) and "port" in connect)

    def child_outlives_parent(self, configuration: Mapping[str, Any]) -> bool:
        # A child that has dialed in; one that is reached through its parent's adapter ends with that.
        return "dialedIn" in configuration

    def open_child(
        self, configuration: Mapping[str, Any], runtime: Runtime, parent: SocketAddress | None
    ) -> AbstractAsyncContextManager[Adapter]:
        """Take a child that has dialed in, or open another connection to the adapter of a program that listens."""
        if "guest" in configuration:
            return open_guest(int(configuration["guest"]), runtime.dial_ins, {})
        if "dialedIn" in configuration:
            children = _child_arguments(configuration)
            watchdog = runtime.watchdog if configuration.get(_ENDS_WITH_PROGRAM) else None
            return open_caller(int(configuration["subProcessId"]), runtime.dial_ins, children, watchdog)
        connect = configuration["connect"]
        return open_socket_adapter(
            TcpAddress(str(connect.get("host", "127.0.0.1")), int(connect["port"])), runtime.patience
        )


def _mapped(mappings: Sequence[PathMapping]) -> dict[str, Any]:
    roots = [{"localRoot": mapping.local, "remoteRoot": mapping.remote} for mapping in mappings]
    return {"pathMappings": roots} if roots else {}


def _child_arguments(parent: Mapping[str, Any]) -> dict[str, Any]:
    """What a child's session is to attach with: what its parent's was, as far as it is inherited."""
    inherited = {name: parent[name] for name in _INHERITED if name in parent}
    return {"name": "child", "type": "python", "justMyCode": True, "rules": list(GENERATED), **inherited}
