"""`AdapterValues`: how an adapter shows values of the debugged language, and the paths to what is inside them."""

import re
from collections.abc import Generator, Sequence
from typing import ClassVar

from msgspec import Struct

from trio_debugmcp.dap.messages import DapVariable

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
