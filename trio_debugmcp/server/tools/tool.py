"""What a tool is; `Toolbox` lists and calls them.

The parameter struct gives the input schema and checks the arguments. There are no output schemas: no host shows them to
a model, and `structuredContent` needs none.

    class Add(Params, frozen=True, kw_only=True):
        left: int
        right: int = 0

    tool = Tool(name="add", title="Add", description="…", params=Add, run=_add, read_only=True)
"""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal, TypeVar

from msgspec import Meta, Struct

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.answer import Answer
from trio_debugmcp.server.answers.last_bounds import MAX_ANSWER_BYTES
from trio_debugmcp.server.auth import Role
from trio_debugmcp.server.call_result import ListedTool, ToolHints
from trio_debugmcp.server.naming import BY_NAME, Naming
from trio_debugmcp.server.tools.schema import described_schema, listed_schema
from trio_debugmcp.session.debugger import Debugger

MAX_SECONDS = 3600
"""The longest wait that a tool accepts. A client that wants to wait longer calls again."""

MAX_RESULT_BYTES = MAX_ANSWER_BYTES


class Params(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The base of parameter structs: snake_case, keywords only, and no field that the schema does not name."""


SessionId = Annotated[
    str | None,
    Meta(description="The session to act on, from `sessionId` or `children`; default: the one in focus."),
]
ThreadId = Annotated[int | None, Meta(description="A thread id from threads_list; default: the active thread.")]
LineNumber = Annotated[int, Meta(ge=1, le=2**31 - 1)]
"""A line of a source, from 1. Debuggers have no room for greater numbers, and no file has them."""
FrameIndex = Annotated[int, Meta(ge=0, description="A frame by its index in the stack; 0 is the top.")]
Seconds = Annotated[
    float,
    Meta(ge=0, le=MAX_SECONDS, description="How many seconds to wait; running out of time is not an error."),
]
EvaluationSeconds = Annotated[
    float,
    Meta(ge=0, le=MAX_SECONDS, description="How many seconds it may take; then the error is EVAL_TIMEOUT."),
]
Show = Annotated[
    list[Annotated[str, Meta(min_length=1)]],
    Meta(max_length=20, description="Expressions to evaluate at the stop; an error stands in the place of its value."),
]
Wait = Annotated[bool, Meta(description="Wait for the next stop or the end; false returns at once.")]
MaxValueLength = Annotated[int, Meta(ge=1, le=1_000_000, description="Characters after which a value is cut.")]
MaxResultBytes = Annotated[int, Meta(ge=256, le=10_000_000, description="Bytes after which a list is cut.")]

NewSession = Annotated[
    bool, Meta(description="Debug it beside the programs that are debugged already; then name one with `session_id`.")
]
Start = Annotated[int, Meta(ge=0, description="How many items to skip.")]

UNLISTED = frozenset({"group", "max_result_bytes", "max_value_length", "new_session", "session_id"})
"""Parameters that are rarely needed, of any tool: the list leaves them out, docs/tools.md has them."""

P = TypeVar("P", bound=Params)
Run = Callable[[Debugger, P], Awaitable[Answer]]


class Tool(Struct, frozen=True, kw_only=True):
    """One tool, with the hints of MCP's `ToolAnnotations`.

    Attributes:
        runs_code: it may evaluate expressions in the debugged program.
        listing: which lists it is in: `core`, what an agent needs every day (`serve --tools core`), or only the full
            one, or none; `core_only` is the one that stands for the others. Every tool can be called.
        phrase: what it is for, in a few words, where the list does not show it and its name does not say it.
        unlisted: parameters that the list leaves out, besides those that are left out everywhere.
        acts_on: what a call is about. While a person holds the programs, calls that act on them wait, unless they only
            read; those about people are for clients in control.
        noted: a call becomes an event of the timeline. False for tools that read the timeline: a client that calls
            them on every change of the timeline would wake itself for ever.
        by_person: a person calls it on an agent's connection, and counts as another client than the agent.
    """

    name: str
    title: str
    description: str
    params: type[Params]
    run: Run[Any]
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    open_world: bool = False
    runs_code: bool = False
    listing: Literal["core", "core_only", "full", "none"] = "full"
    phrase: str = ""
    unlisted: frozenset[str] = frozenset()
    noted: bool = True
    by_person: bool = False
    acts_on: Literal["program", "captures", "people"] = "program"

    @property
    def moves(self) -> bool:
        """Whether it may move the debugged program, or change something in it."""
        return self.acts_on == "program" and not self.read_only

    def allows(self, role: Role) -> bool:
        """Return whether a connection of that role may call the tool."""
        return role == "control" or (self.read_only and not self.runs_code and self.acts_on != "people")

    def refusal(self, part: str = "") -> UsageError:
        """Return the error for an observer that calls a tool it may not call."""
        what = "is for those in control" if self.acts_on == "people" or part else "can change the debugged program"
        return UsageError(
            "READ_ONLY",
            f"This connection may only observe, and {self.name}{part} {what}. Use a connection with "
            "the control token, or read the resources.",
            {"tool": self.name},
        )

    def listed(self, naming: Naming = BY_NAME) -> ListedTool:
        """Return the tool as `tools/list` shows it."""
        return self._with_schema(listed_schema(self.params, self.unlisted | UNLISTED), naming)

    def described(self, naming: Naming = BY_NAME) -> ListedTool:
        """Return the tool with all of its parameters, as a shell is shown it."""
        return self._with_schema(described_schema(self.params, self.unlisted | UNLISTED), naming)

    def _with_schema(self, schema: dict[str, Any], naming: Naming) -> ListedTool:
        return ListedTool(
            name=self.name,
            title=self.title,
            description=naming.text(self.description),
            input_schema=dict(sorted(naming.schema(schema).items())),
            annotations=ToolHints(
                read_only_hint=self.read_only,
                destructive_hint=self.destructive,
                idempotent_hint=self.idempotent,
                open_world_hint=self.open_world,
            ),
        )
