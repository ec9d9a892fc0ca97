"""Expressions that put the probe into a program and call it, for `evaluate` without a frame.

    await request("evaluate", {"expression": install_expression(), "context": CONTEXT})
    body = await request("evaluate", {"expression": call_expression("threads"), "context": CONTEXT})

The modules hang on a module of pydevd, under a name with a digest of their source: `sys.modules` stays as it is, two
servers of different versions do not meet, and a forked child has the probe already. They are executed with an import
function of their own, which finds the siblings and what is imported already, and imports nothing.
"""

import ast
import json
import re
import textwrap
from functools import cache
from hashlib import sha256
from pathlib import Path

CONTEXT = "repl"
"""Of the `evaluate` requests. In any other context pydevd filters warnings meanwhile, which makes the program repeat
warnings that it has shown already. What this context does, redirecting the output, the loader undoes first."""

HOST = "_pydevd_bundle.pydevd_constants"
"""The module of pydevd on which the probe hangs."""

PACKAGE = "trio_debugmcp.probe.inside"

_FOLDER = Path(__file__).parent / "inside"

_LOADER = """
import sys, types, builtins
def load(sources, package):
    modules = {}
    def find(name, globals=None, locals=None, fromlist=(), level=0):
        if name in sources:
            return module(name)
        if name == package or name.startswith(package + "."):
            return types.SimpleNamespace(**{each: module(f"{name}.{each}") for each in fromlist})
        if name not in sys.modules:
            raise ImportError(f"the program has not imported {name}")
        return sys.modules[name] if fromlist else sys.modules[name.partition(".")[0]]
    names = dict(vars(builtins), __import__=find)
    def module(name):
        made = modules.get(name)
        if made is None:
            made = modules[name] = types.ModuleType(name)
            vars(made)["__builtins__"] = names
            file = f"<trio_debugmcp probe>/{name.rpartition('.')[2]}.py"
            exec(compile(sources[name], file, "exec", dont_inherit=True), vars(made))
        return made
    return module(package + ".questions")
"""


@cache
def sources() -> dict[str, str]:
    """The source of each module that is put into the program, by its full name."""
    return {
        ".".join((PACKAGE, *file.relative_to(_FOLDER).with_suffix("").parts)): file.read_text(encoding="utf-8")
        for file in sorted(_FOLDER.rglob("*.py"))
        if file.stem[0] != "_"
    }


@cache
def attribute() -> str:
    """Return the name under which the probe hangs on pydevd's module."""
    return f"_trio_debugmcp_{sha256(json.dumps([_LOADER, sources()]).encode()).hexdigest()[:16]}"


@cache
def install_expression() -> str:
    """Return the expression that installs the probe, if it is not there yet. Its value is `installed`."""
    load = f"(lambda names: (exec({_literal(_LOADER)}, names), names['load'])[1])({{}})"
    made = f"{load}({{{', '.join(f'{name!r}: {_literal(text)}' for name, text in sources().items())}}}, {PACKAGE!r})"
    place = f"(__import__('sys').modules[{HOST!r}], {attribute()!r})"
    return f"(lambda *place: (hasattr(*place) or setattr(*place, {made}), 'installed')[1])(*{place})"


def call_expression(question: str, **parameters: object) -> str:
    """Return the expression that asks a question; None is left out. Its value is JSON, or empty without the probe."""
    given = json.dumps({name: value for name, value in parameters.items() if value is not None})
    return f"(lambda probe: probe.call({question!r}, {_literal(given)}) if probe else '')({_probe()})"


def evaluate_expression(number: int, source: str) -> str:
    """Return the expression that evaluates code of the user in a frame. Its value is that of the code.

    How it ended is the answer to the question `outcome` with that number; without the probe nothing is evaluated.
    """
    given = f"{number}, {_literal(source_text(source))}"
    return f"(lambda probe: probe.evaluation.here({given}) if probe else None)({_probe()})"


def assign_expression(number: int, thread: int, frame: int, target: str, source: str) -> str:
    """Return the expression that evaluates a value in a frame and assigns it there, with an outcome as above."""
    given = f"{number}, {thread}, {frame}, {_literal(target)}, {_literal(source_text(source))}"
    return f"(lambda probe: probe.assignment.here({given}) if probe else None)({_probe()})"


def source_text(typed: str) -> str:
    """Return code as users type it without what is around it: they indent it, and leave lines empty."""
    return textwrap.dedent(typed).strip("\n")


def _probe() -> str:
    return f"getattr(__import__('sys').modules.get({HOST!r}), {attribute()!r}, None)"


def hit_expression(specification: str) -> str:
    """Return the condition of a breakpoint that the program judges itself; see `inside.hits`."""
    return f"__import__('sys').modules[{HOST!r}].{attribute()}.hit({_literal(specification)})"


def reached_expression(number: int) -> str:
    """Return the condition by which the calls of a traced function are found; see `inside.tracing.call_tracer`.

    False in a program that has not been asked to trace: a breakpoint goes to all sessions.
    """
    return f"(lambda probe: probe.reached({number}) if probe else False)({_probe()})"


_CALL = re.compile(r"\(lambda probe: probe\.call\('(\w+)', ('.*')\) if probe else ''\)", re.DOTALL)

_EVALUATION = re.compile(r"\(lambda probe: probe\.evaluation\.here\(\d+, (.*)\) if probe else None\)", re.DOTALL)

_INSTALL = "(lambda *place: (hasattr(*place) or setattr(*place, "


def asked_in(expression: str) -> tuple[str, str | None] | None:
    """Return the question that an expression puts to the probe, of any version, and what it is asked about.

    So the answers in a recording are found by a server of another version. None for expressions of other kinds.
    """
    if expression.startswith(_INSTALL):
        return "install", None
    evaluation = _EVALUATION.match(expression)
    if evaluation is not None:
        return "evaluate", evaluation[1]
    found = _CALL.match(expression)
    if found is None:
        return None
    try:
        parameters = json.loads(ast.literal_eval(found[2]))
    except (ValueError, SyntaxError):
        return None
    kept = {name: value for name, value in parameters.items() if name in _SUBJECT}
    return found[1], json.dumps(kept, sort_keys=True)


_SUBJECT = frozenset(
    {
        *("thread", "frame", "path", "expression", "scope", "start", "filter", "depth", "code"),
        *("pattern", "only", "module", "inherited", "direction"),
    }
)
"""Parameters that say what is asked about. The others say how much of it."""


def _literal(text: str) -> str:
    """Return a text as a literal of one line. pydevd reads `@LINE@` in an expression as a line break."""
    return ascii(text).replace("@LINE@", "@LINE\\x40")
