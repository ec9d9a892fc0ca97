"""debugpy: Python. It is a dependency of this package, so Python debugging works with nothing else installed.

Known oddities that shape this file:
- a request that it did not declare is never answered, nor is anything after it;
- a log point's text is plain program output, unless it carries a mark;
- a condition that fails is skipped over in silence unless told otherwise (`setDebuggerProperty`);
- an exception type is looked up by importing it, so types of the program itself must be filtered by us;
- child processes wait for somebody to attach to them;
- it serves one request at a time, and holds back events meanwhile: a question about a thread that has gone on is not
  answered before that thread stops again, and nor is anything else.
"""

import ast
import builtins
import importlib.metadata
import importlib.util
import os
import re
import shutil
import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, ClassVar

from trio_debugmcp.dap.adapter import Adapter, open_socket_adapter
from trio_debugmcp.dap.messages import Capabilities, DapFrame, DapVariable
from trio_debugmcp.dap.profiles.profile import Attach, Launch, Profile, TypedException

_CONDITION_FAILED = re.compile(
    r"Error while evaluating expression in conditional breakpoint: (?P<condition>.*?)\n(?P<trace>.*)",
    re.DOTALL,
)
_LOST_PROGRAM = re.compile(r"Server\[[^]]*\] disconnected unexpectedly")
_GROUPS = frozenset({"special variables", "function variables", "class variables", "return values"})


class Debugpy(Profile):
    """The embedded adapter."""

    name: ClassVar[str] = "debugpy"
    language: ClassVar[str] = "Python"
    file_suffixes: ClassVar[frozenset[str]] = frozenset({".py", ".pyw"})
    install_hint: ClassVar[str] = f"{sys.executable} -m pip install debugpy"
    evaluate_context: ClassVar[str] = "repl"
    code_options: ClassVar[frozenset[str]] = frozenset({"module", "code", "python", "pythonPath", "pythonArgs"})

    pause_echo_seconds: ClassVar[float] = 0.7  # it comes after half a second

    def locate(self) -> str | None:
        """The installed package and its version."""
        spec = importlib.util.find_spec("debugpy")
        if spec is None or spec.origin is None:
            return None
        return f"{Path(spec.origin).parent} ({importlib.metadata.version('debugpy')})"

    def command(self) -> Sequence[str]:
        """Our wrapper around the adapter; `-P` keeps this folder, which has a debugpy.py, off the import path."""
        return [sys.executable, "-P", str(Path(__file__).with_name("debugpy_adapter.py"))]

    def launch_arguments(self, launch: Launch) -> dict[str, Any]:
        """A launch in our own terminal, which is what gives us the program's standard streams."""
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
            "python": [interpreter_for(launch.cwd if target == {} else launch.program)],
            "console": "integratedTerminal",
            "stopOnEntry": launch.stop_at_entry,
            "justMyCode": launch.just_my_code,
            "subProcess": True,
            **launch.options,
        }

    def attach_arguments(self, attach: Attach) -> dict[str, Any]:
        """Attach by process id, or on the connection that already is the program's own adapter."""
        arguments = {
            "name": "attach",
            "type": "python",
            "request": "attach",
            "justMyCode": True,
            **attach.options,
        }
        if attach.pid is not None:
            arguments["processId"] = attach.pid
        return arguments

    def attach_problem(self, attach: Attach) -> str | None:
        """By process id the adapter injects itself with a native debugger; without one it never answers."""
        native = "lldb" if sys.platform == "darwin" else "gdb"
        if attach.pid is None or shutil.which(native):
            return None
        return (
            f"attaching to a Python process by pid needs `{native}` on PATH. Install it, or start the program with "
            f"`python -m debugpy --listen 5678 program.py` and attach with host 127.0.0.1 and port 5678"
        )

    def serves_child(self, configuration: Mapping[str, Any]) -> bool:
        """A child process that can be reached says where."""
        connect = configuration.get("connect")
        return isinstance(connect, dict) and "port" in connect

    def open_child(self, configuration: Mapping[str, Any]) -> AbstractAsyncContextManager[Adapter]:
        """A child process is served by the parent's adapter, on another connection."""
        connect = configuration["connect"]
        return open_socket_adapter(str(connect.get("host", "127.0.0.1")), int(connect["port"]))

    def settings_requests(self, capabilities: Capabilities) -> list[tuple[str, dict[str, Any]]]:
        """Let a condition that fails be printed and stop the program, instead of being skipped over."""
        if not capabilities.supports_debugger_properties:
            return []
        return [
            (
                "setDebuggerProperty",
                {"skipSuspendOnBreakpointException": [], "skipPrintBreakpointException": []},
            )
        ]

    def has_lost_program(self, refusal: str) -> bool:
        """It takes some tenths of a second from the program's end to its `terminated`."""
        return _LOST_PROGRAM.fullmatch(refusal) is not None

    def runtime_request(self) -> tuple[str, Any] | None:
        """Pydevd's own request about its process."""
        return "pydevdSystemInfo", None

    def runtime_version(self, body: Mapping[str, Any]) -> str | None:
        """`CPython 3.11.7`; pydevd spells it `3.11.7final0`."""
        python = body.get("python") or {}
        version = re.match(r"[\d.]+", str(python.get("version", "")))
        implementation = str((python.get("implementation") or {}).get("name", "Python"))
        name = {"cpython": "CPython", "pypy": "PyPy"}.get(implementation.lower(), implementation)
        return f"{name} {version[0]}" if version else None

    def syntax_error(self, expression: str) -> str | None:
        """By Python's own parser."""
        return _syntax_error(expression.strip(), "eval")

    def is_path(self, expression: str) -> bool:
        """A name, and from there attributes and items by a literal key, as pydevd spells the way to a variable."""
        try:
            node = ast.parse(expression, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
        while not isinstance(node, ast.Name):
            match node:
                case ast.Attribute(value=inner):
                    node = inner
                case ast.Subscript(value=inner, slice=ast.Constant() | ast.UnaryOp(operand=ast.Constant())):
                    node = inner
                case _:
                    return False
        return True

    def log_message_problem(self, message: str) -> str | None:
        """Braces in pairs, and an expression in each pair; pydevd has no way to write a brace itself."""
        if message.count("{") != message.count("}"):
            return "its braces do not match"
        for expression in re.findall(r"\{([^{}]*)\}", message):
            problem = self.syntax_error(expression)
            if problem is not None:
                return f"{{{expression}}}: {problem}"
        return None

    def log_message(self, breakpoint_id: str, message: str) -> str:
        """Pydevd turns a message with expressions into a `%` format, without escaping what is `%` already."""
        return super().log_message(breakpoint_id, message.replace("%", "%%") if "{" in message else message)

    def program_problem(self, program: str, source: bytes) -> str | None:
        """A syntax error, with its line; nothing is executed. Another Python than ours judges for itself."""
        if interpreter_for(program) != sys.executable:
            return None
        return _syntax_error(source, "exec")

    def condition_failure(self, output: str) -> tuple[str, str] | None:
        """From pydevd's report: the condition, and the last line of the traceback."""
        found = _CONDITION_FAILED.search(output)
        if found is None:
            return None
        return found["condition"], found["trace"].strip().rpartition("\n")[2]

    def exception_arguments(self, wanted: Sequence[TypedException], capabilities: Capabilities) -> dict[str, Any]:
        """Builtin types go by name, which costs nothing when others are raised; the rest is filtered at the stop."""
        modes = {
            (each.type if isinstance(getattr(builtins, each.type, None), type) else "BaseException", mode)
            for each in wanted
            for mode, asked in (("always", each.first_chance), ("unhandled", each.second_chance))
            if asked
        }
        options = [
            {"path": [{"names": ["Python Exceptions"]}, {"names": [name]}], "breakMode": mode}
            for name, mode in sorted(modes)
        ]
        return {"filters": [], **({"exceptionOptions": options} if options else {})}

    def exception_types(self) -> Sequence[str]:
        """The built-in ones."""
        return [
            name for name, each in vars(builtins).items() if isinstance(each, type) and issubclass(each, BaseException)
        ]

    def lineage_expression(self) -> str | None:
        """Pydevd leaves `(type, value, traceback)` in the frame's locals."""
        return "' '.join(c.__module__ + '.' + c.__qualname__ for c in __exception__[0].__mro__)"

    def parse_lineage(self, result: str) -> tuple[str, ...]:
        """Full names, and the short ones by which people know builtin and local types."""
        names = result.strip("'\"").split()
        return tuple(name for full in names for name in (full, full.rpartition(".")[2]))

    def raise_identity_expression(self) -> str | None:
        """The same exception object is reported again in every frame that it passes."""
        return "id(__exception__[1])"

    def causes_expression(self, most: int) -> str | None:
        """What Python prints between "direct cause" and "during handling": `__cause__`, else `__context__`."""
        return (
            "(lambda walk, behind: __import__('json').dumps(walk(walk, behind(__exception__[1]), "
            f"{int(most)}, behind)))("
            "lambda walk, e, n, behind: [] if e is None or n == 0 else "
            "[[(type(e).__module__ + '.' + type(e).__qualname__).removeprefix('builtins.'), str(e)]] "
            "+ walk(walk, behind(e), n - 1, behind), "
            "lambda e: e.__cause__ or (None if e.__suppress_context__ else e.__context__))"
        )

    def truth_expression(self, condition: str) -> str:
        """Any object has a truth value in Python."""
        return f"bool(({condition}))"

    def hides(self, variable: DapVariable) -> bool:
        """Pydevd's groups, which have no value, and what it leaves in the frame itself."""
        return (variable.name in _GROUPS and not variable.value) or variable.name == "__exception__"

    def line_of(self, frame: DapFrame) -> int | None:
        """Since Python 3.11 a module that is about to start is in line 0, which stands for its first line."""
        return 1 if frame.name == "<module>" else None

    def module_name(self, frame: DapFrame) -> str | None:
        """Pydevd names no modules in frames; the file's name is what `import` would call it."""
        path = frame.source.path if frame.source is not None else None
        return Path(path).stem if path else None


def _syntax_error(source: str | bytes, mode: str) -> str | None:
    try:
        with warnings.catch_warnings():  # a doubtful escape is no error, whatever PYTHONWARNINGS says of ours
            warnings.simplefilter("ignore")
            compile(source, "source", mode, dont_inherit=True, flags=ast.PyCF_ONLY_AST)
    except SyntaxError as error:
        return f"SyntaxError in line {error.lineno}, column {error.offset}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error)
    return None


def interpreter_for(program: str) -> str:
    """The Python that should run a program: an active virtual environment, else the nearest `.venv`, else ours."""
    active = os.environ.get("VIRTUAL_ENV")
    homes = [Path(active)] if active else []
    places = [Path(program), *Path(program).parents]
    homes += [place / name for place in places for name in (".venv", "venv")]
    for home in homes:
        for candidate in (home / "bin" / "python", home / "Scripts" / "python.exe"):
            if candidate.is_file() and (home / "pyvenv.cfg").is_file():
                return str(candidate)
    return sys.executable
