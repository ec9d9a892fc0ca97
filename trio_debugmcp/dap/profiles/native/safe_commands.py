"""`SafeCommands`: commands by which a debugger of machine code evaluates without calls into the program.

An expression like `order == other` or `items[2]` calls functions of a C++ program. Debuggers have commands that do not:

    commands = SafeCommands(command="with may-call-functions off -- output {expression}")
    SafeRepl(commands).safe_commands("items[2]")      # ["with may-call-functions off -- output items[2]"]

The commands go to the debugger's command line, so nothing passes that could be a second command there.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from trio_debugmcp.dap.profiles.language import Rejection, Repl
from trio_debugmcp.dap.profiles.tables.patterns import check_pattern

_COMMAND_TEXT = re.compile(r"[^\w .:>=<!\[\]$'%-]")
"""What no name, member, index or comparison has, and a command line takes for more: line ends, back quotes, quotes."""


_TYPE_TEXT = re.compile(r"[^\w .:,>=<*&\[\]$-]")
"""The same of the names of types, which have commas, stars and ampersands besides."""

_TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"')

_PATH_TEXT = re.compile(r"[*&]*[A-Za-z_$][\w.:>\[\]$-]*")
"""A path to a variable, without blanks: behind one a command line would take the rest for a second path."""


class SafeCommands(Struct, frozen=True, forbid_unknown_fields=True):
    """Commands that evaluate an `{expression}` and call no function of the program, and what they answer.

    Attributes:
        path: the first to try, which only follows a path to a variable.
        command: for all that `path` does not know.
        value: a pattern for an answer: its groups `value` and `type`. Without it the whole answer is the value.
        error: a pattern for an answer that is an error, with the reason as its group.
        calls: a pattern for errors of expressions that would have to call the program.
        selected: commands run in the frame that `scopes` was last asked about, whatever frame is passed with them.
        types: the command that prints the type of an `{expression}`, or the one of that name.
    """

    command: str
    path: str | None = None
    value: str | None = None
    error: str | None = None
    calls: str | None = None
    types: str | None = None
    selected: bool = False

    def __post_init__(self) -> None:
        check_pattern("value", self.value, named=("value", "type"))
        check_pattern("error", self.error, group="reason")
        check_pattern("calls", self.calls)


class SafeRepl(Repl):
    """What users evaluate in a debugger with a command line of its own."""

    def __init__(self, commands: SafeCommands) -> None:
        self._commands = commands

    @property
    def in_selected(self) -> bool:
        """Whether the frame of a command has to be selected before."""
        return self._commands.selected

    def changes_nothing(self, expression: str) -> bool:
        # A text matters to a command line only.
        return self.safe_rejection(_TEXT.sub("0", expression)) is None

    def safe_rejection(self, expression: str) -> Rejection | None:
        found = _COMMAND_TEXT.search(expression.strip())
        if found is not None:
            return Rejection(found[0], "names, members, constant indices and one comparison are evaluated safely")
        return super().safe_rejection(expression)

    def safe_commands(self, expression: str) -> Sequence[str]:
        patterns = (self._commands.path, self._commands.command)
        return [pattern.replace("{expression}", expression.strip()) for pattern in patterns if pattern is not None]

    def type_command(self, expression: str) -> str | None:
        """Return the command that prints what a type consists of; None if the adapter has none.

        Raises:
            ValueError: the expression does not fit into a command line; with the reason.
        """
        if self._commands.types is None:
            return None
        found = _TYPE_TEXT.search(expression.strip())
        if found is not None:
            raise ValueError(f"`{found[0]}` is in no name of a type, and in no path to a value")
        return self._commands.types.replace("{expression}", expression.strip())

    def value_command(self, path: str) -> str | None:
        """Return the command that shows the value of a path, of a dereferenced one too; None if there is none for it.

        It is needed where the command for types only looks up names of types.
        """
        plain = self._commands.path is not None and _PATH_TEXT.fullmatch(path.strip()) is not None
        return self._commands.path.replace("{expression}", path.strip()) if plain and self._commands.path else None

    def safe_answer(self, text: str) -> tuple[str, str | None]:
        error = re.search(self._commands.error, text) if self._commands.error else None
        if error is not None:
            raise ValueError(error[1].strip())
        if self._commands.value is None:
            return text, None
        found = re.search(self._commands.value, text)
        if found is None:
            raise ValueError(text.strip())
        return found["value"].strip(), found["type"]

    def needs_call(self, reason: str) -> bool:
        return self._commands.calls is not None and re.search(self._commands.calls, reason) is not None
