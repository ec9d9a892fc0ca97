"""`AdapterValues`: how an adapter shows values of the debugged language, and the paths to what is inside them.

`Words`: what is in its texts, which are written for people. The defaults suit most adapters.
"""

import re
from collections.abc import Generator, Sequence
from typing import Any, ClassVar, Literal

from msgspec import Struct

from trio_debugmcp.dap.messages import DapBreakpoint, DapVariable, Stopped

ProgramStream = Literal["stdout", "stderr", "console"]

_DRAWN = re.compile(r"\s*\d*\s*\||[\s^~]*$")
"""A line that shows the expression, or points into it: `1 | nosuch` and `  | ^`."""


class EventReport:
    """What is to be said of a session's events that are not in DAP; kept for the length of the session."""

    def text_of(self, event: str, body: object) -> str | None:
        """Return what a person is to read of an event, as the program's standard error; None: nothing."""
        return None


class Words:
    """What one adapter's texts mean."""

    exit_signal: ClassVar[str | None] = None
    """An expression for the signal that ended the program, where the adapter then reports 0 for its exit code."""

    waiting: ClassVar[str | None] = None
    """Why a program may not stop at a pause for a while, where that is a matter of its runtime."""

    def stream(self, category: str, text: str = "") -> ProgramStream:
        """Where output belongs, by its category: in the program's `stdout` or `stderr`, or in `console`."""
        return "stdout" if category == "stdout" else "stderr" if category == "stderr" else "console"

    def is_beginning(self, text: str) -> bool:
        """Whether the next output, too, is the adapter's own, because this one of it only begins what it says."""
        return False

    def is_routine(self, text: str) -> bool:
        """Whether output is the adapter's own and repeats what answers have anyway, so that it is not kept."""
        return False

    def about_breakpoint(self, answer: DapBreakpoint) -> DapBreakpoint:
        """What the adapter says of a breakpoint, without what repeats that it is set, and not set if it is nowhere."""
        return answer

    def why_never(self, file: str) -> str | None:
        """Why the adapter may have set no breakpoint in a source file, though it has said nothing of it."""
        return None

    def why(self, stopped: Stopped) -> str | None:
        """What a stop says of itself beside its reason."""
        return stopped.text or stopped.description

    def doubt(self, stopped: Stopped, mode: str | None) -> str | None:
        """What remains open of an exception that an adapter calls one of this break mode."""
        return None

    def thread_name(self, name: str) -> str:
        """A thread's name, without what is known of the thread anyway."""
        return name

    def other_name(self, function: str, problem: str) -> tuple[str, str | None] | None:
        """The name by which to try again to set a breakpoint on a function, of which the adapter says this.

        And what is to be said if it is set by that: which other functions may be meant.
        """
        return None

    def plain_error(self, error: str) -> str:
        """What an evaluation failed with, without what only says that it failed."""
        return error

    no_message: ClassVar[str] = ""
    """What the adapter says of an exception that has no message."""

    def exception_message(self, kind: str) -> str | None:
        """The message of an exception, where what the adapter says of its type has that, too; empty if it has none."""
        return None

    def telling_line(self, error: str) -> int:
        """Which line of an error's text says what is wrong: the last that is not a drawing of the expression."""
        lines = error.splitlines()
        return max((number for number, line in enumerate(lines) if not _DRAWN.match(line)), default=-1)

    idle_when: ClassVar[str | None] = None
    """An expression whose value says where a running program is that only waits for its user, as a page does."""

    def idle_notes(self, where: str) -> list[str]:
        """What is to be said of a program that has begun and waits; `where`: the value of `idle_when`."""
        return []

    def standing_request(self) -> tuple[str, dict[str, Any]] | None:
        """A request outside the DAP to a session with a program, whose answer may only come when that runs."""
        return None

    def event_report(self) -> EventReport | None:
        """What reports on the adapter's own events in one session, if anything does."""
        return None


Reading = Generator[int, Sequence[DapVariable] | None, str]
"""What reads a value: yields a reference, and gets the children behind it, None if they are not to be had."""


class IndexedItem(Struct, frozen=True):
    """An expression for the adapter, and what stands in it for a value with these `brackets` behind it.

    `index` and `length`: expressions for the index and for how many items there are, where the adapter does not see to
    it that there is such an item.
    """

    expression: str
    spelled: str
    brackets: str
    index: str | None = None
    length: str | None = None


class NameOrigin(Struct, frozen=True):
    """Where a variable is from; `others`: how many more files have one of its name."""

    name: str
    file: str
    line: int
    others: int


class Placeholders:
    """What an adapter's text of a value has instead of what is inside. The default is for adapters without any.

    `unread`: what stands for a structure behind a pointer that the adapter has not read: an expression for its address.
    """

    unread: ClassVar[re.Pattern[str] | None] = None

    def filled(self, value: str, inside: Sequence[tuple[str, str]]) -> str | None:
        """A value with what is inside of it, for which the adapter's text of the value has but a placeholder.

        Args:
            value: As the adapter shows it.
            inside: Names and values of the children; empty before they are asked for.

        Returns:
            The value, as it is without children; None if it has no placeholders, or too many items to ask for all.
        """
        return None


class Compositions:
    """How a value is written of which the adapter shows nothing that is inside. `kind`: its type in short."""

    def composed(self, value: str, kind: str, fields: Sequence[tuple[str, str]], *, has_more: bool) -> str:
        """With its fields or items, each with its name; `has_more`: there are others."""
        more = ["…"] if has_more else []
        if all(name.strip("[]").isdigit() for name, _ in fields):
            return f"[{', '.join([item for _, item in fields] + more)}]"
        return f"{kind}({', '.join([f'{name}={field}' for name, field in fields] + more)})"

    def folded(self, value: str, kind: str, items: int | None) -> str:
        """Among others, without what is inside; `items`: how many the adapter has counted."""
        return f"[{items} items]" if items else f"{kind}(…)"

    def reading(self, variable: DapVariable) -> Reading | None:
        """What reads a value from what is inside of it, for a language whose own classes have it there in their way."""
        return None

    def is_variant(self, kind: str, name: str, child_kind: str) -> bool:
        """Whether the only child of a value of this type is the variant that it is, of an enum: it is shown as that."""
        return False

    def is_followed(self, name: str, value: str, kind: str | None) -> bool:
        """Whether the value of a variable is an address, and what is there is meant: a reference, by its type."""
        return False


class Meanings:
    """Which items an expression means, and whose its names are. The defaults leave both to the adapter."""

    def item(self, expression: str, holder: str, kind: str | None) -> IndexedItem | None:
        """What is meant by an expression that indexes a value of this type, where the adapter has no index for it."""
        return None

    def origin_command(self, expression: str, file: str) -> str | None:
        """What asks where the variable is from that an expression begins with, in a frame of this file."""
        return None

    def origin(self, answer: str) -> NameOrigin | None:
        """What the answer says."""
        return None


class AdapterValues:
    """The defaults suit adapters that say most of it themselves.

    `pairs`: how values begin whose children are keys and values by turns.
    """

    pairs: ClassVar[re.Pattern[str] | None] = None
    placeholders: ClassVar[Placeholders] = Placeholders()
    compositions: ClassVar[Compositions] = Compositions()
    meanings: ClassVar[Meanings] = Meanings()

    def trusts(self, evaluate_name: str | None) -> bool:
        """Whether the adapter's own path to a variable is one that the language has."""
        return bool(evaluate_name)

    def member(self, parent: str, name: str, parent_type: str | None) -> str | None:
        """The path of what is inside of a value, by the name that the adapter shows; None if there is none."""
        if name.startswith("["):
            return f"{parent}{name}"
        return f"{parent}[{name}]" if name.isdigit() else f"{parent}.{name}"

    def is_target(self, name: str, parent_type: str | None) -> bool:
        """Whether a child of that name is what its parent, a pointer or a reference, leads to."""
        return False

    def is_leaf(self, value: str, kind: str | None) -> bool:
        """Whether a value is shown whole, as a string is, so that its parts are not shown."""
        return False

    def bare_type(self, kind: str | None) -> str:
        """The name of a type, without what does not belong to it: `Item` of `const Item &`."""
        return kind or ""

    def plain_type(self, kind: str | None) -> str | None:
        """The type of a value among others, where the adapter's name for it says more than that."""
        return kind

    def locals_of(self, variables: Sequence[DapVariable]) -> list[DapVariable]:
        """The variables of a frame's scopes, without what is not the program's among them."""
        return list(variables)

    def items_of(self, value: str, inside: Sequence[DapVariable]) -> list[DapVariable]:
        """The items of a collection, without what else is among its children; `value`: how the collection is shown."""
        return [child for child in inside if child.name != "len()"]  # pydevd's and delve's

    def is_definition(self, variable: DapVariable) -> bool:
        """Whether a variable is a function or a class, which a stop counts but does not show."""
        return False

    def is_returned(self, variable: DapVariable) -> bool:
        """Whether what is among the variables is the value that the function at hand returns."""
        return False

    def shown(self, value: str, kind: str | None) -> str:
        """A value as it is to be shown, where the adapter shows more than that."""
        return value

    def is_bare(self, value: str, kind: str | None) -> bool:
        """Whether a value shows nothing of what is inside."""
        return False

    def indexed(self, expression: str, file: str | None) -> Sequence[str]:
        """What an expression indexes in a frame of this file, if its type decides whether the adapter may do that."""
        return ()

    def index_problem(self, kind: str | None) -> str | None:
        """Why an adapter that indexed a value of this type would read what is not an item: the rest of a sentence."""
        return None

    def set_aside(self, expression: str, number: int) -> tuple[str, str, str] | None:
        """What keeps a value under a name of ours, that name, and what removes it. None: none is needed.

        For an adapter that copies a value by code of its own, whose names hide those of the expression.
        """
        return None
