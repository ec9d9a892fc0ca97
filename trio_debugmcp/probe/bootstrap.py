"""Expressions that put the probe into a program and call it, for `evaluate` without a frame.

    body = await request("evaluate", {"expression": call_expression("threads"), "context": CONTEXT})
    if not body.result:     # it is not in the program yet
        body = await request("evaluate", {"expression": install_expression(), "context": CONTEXT})
        if body.result == SOURCES_NEEDED:
            await request("evaluate", {"expression": install_expression(with_sources=True), "context": CONTEXT})

The modules hang on a module of pydevd, under a name with a digest of their source: `sys.modules` stays as it is, two
servers of different versions do not meet, and a forked child has the probe already. They are compiled once for each
version of Python and kept in a file, where that is possible; `loader` runs in the program and says how.
"""

import ast
import json
import re
import textwrap
from collections.abc import Mapping
from functools import cache
from typing import Any

from trio_debugmcp.probe import packing

CONTEXT = "repl"
"""Of the `evaluate` requests. In any other context pydevd filters warnings meanwhile, which makes the program repeat
warnings that it has shown already. What this context does, redirecting the output, the loader undoes first."""

HOST = "_pydevd_bundle.pydevd_comm"
"""The module of pydevd on which the probe hangs. What is evaluated without a frame has its names: so nothing has to be
looked up where the program may have patched it."""

SOURCES_NEEDED = "sources"
"""The value of an installation without the sources, where the program finds no compiled code."""


@cache
def attribute() -> str:
    """Return the name under which the probe hangs on pydevd's module."""
    return f"_trio_debugmcp_{packing.digest()}"


def install_expression(*, with_sources: bool = False) -> str:
    """Return the expression that installs the probe, if it is not there yet. Its value is `installed`, or the above."""
    sources = f"{{{', '.join(map(_pair, packing.sources().items()))}}}" if with_sources else None
    given = f"{attribute()!r}, {packing.blob_directory()!r}, {packing.digest()!r}, {sources}"
    load = f"exec({_literal(packing.loader())}, names), names['install'](vars(names['sys'].modules[{HOST!r}]), {given})"
    return f"(lambda names: ({load})[1])({{'__builtins__': {{**vars(__import__('builtins'))}}}})"


def _pair(module: tuple[str, str]) -> str:
    return f"{module[0]!r}: {_literal(module[1])}"


def call_expression(question: str, **parameters: object) -> str:
    """Return the expression that asks a question; None is left out. Its value is JSON, or empty without the probe."""
    given = json.dumps({name: value for name, value in parameters.items() if value is not None})
    return (
        f"(lambda probe: probe.call({question!r}, {_literal(given)}) if probe else '')(globals().get({attribute()!r}))"
    )


def evaluate_expression(number: int, limit: int, source: str) -> str:
    """Return the expression that evaluates code of the user in a frame. Its value is that of the code.

    How it ended is the answer to the question `outcome` with that number, with so many characters of the value; without
    the probe nothing is evaluated.
    """
    given = f"{number}, {limit}, {_literal(source_text(source))}"
    return f"(lambda probe: probe.evaluation.here({given}) if probe else None)({_probe()})"


def assign_expression(number: int, thread: int, frame: int, target: str, source: str) -> str:
    """Return the expression that evaluates a value in a frame and assigns it there, with an outcome as above."""
    given = f"{number}, {thread}, {frame}, {_literal(target)}, {_literal(source_text(source))}"
    return f"(lambda probe: probe.assignment.here({given}) if probe else None)({_probe()})"


def wake_expression() -> str:
    """Return the expression that ends what stopped threads wait for while they evaluate, where that is possible."""
    return f"(lambda probe: probe.evaluation.wake_all() if probe else None)({_probe()})"


ASK = "trioDebugmcp/ask"
"""The request by which our engine is asked a question: `{"question": …, "parameters": {…}}`. The body is the answer."""

INTERRUPT = "@interrupt"
"""Evaluated by our engine without a frame: interrupt what is evaluated; its value is how much that was."""


HIT_MARK, REACHED_MARK = "@hit ", "@reached "
"""How conditions begin that our engine has judged by the probe: what follows is a specification, or a number."""


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

_EVALUATION = re.compile(
    r"\(lambda probe: probe\.evaluation\.here\(\d+, (?:\d+, )?(.*)\) if probe else None\)", re.DOTALL
)

_INSTALLS = ("(lambda names: (exec(", "(lambda *place: (hasattr(*place) or setattr(*place, ")
"""How the installation begins, in this version and those before."""


def asked_in(expression: str) -> tuple[str, str | None] | None:
    """Return the question that an expression puts to the probe, of any version, and what it is asked about.

    So the answers in a recording are found by a server of another version. None for expressions of other kinds.
    """
    if expression.startswith(_INSTALLS):
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
    return found[1], _about(parameters)


def asked_by(arguments: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return the same for the arguments of `ASK`."""
    return str(arguments.get("question")), _about(arguments.get("parameters") or {})


def _about(parameters: Mapping[str, Any]) -> str:
    return json.dumps({name: value for name, value in parameters.items() if name in _SUBJECT}, sort_keys=True)


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
