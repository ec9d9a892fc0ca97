"""`LibraryCall`: a function of a library that recorded code has called, and that was not recorded itself."""

from typing import Any, NamedTuple


class LibraryCall(NamedTuple):
    """The first call of a function of a library, if a recorded line made it.

    Attributes:
        module: that has the function.
        name: its qualified name.
        code: the number of the code that called it.
        line: of that code.
    """

    module: str
    name: str
    code: int
    line: int

    @property
    def package(self) -> str:
        return self.module.partition(".")[0]

    @property
    def names(self) -> tuple[str, ...]:
        """By which a call may be written: that of the function; of `Parser.__init__` and the like also `Parser`."""
        outer, _, own = self.name.replace("<locals>.", "").rpartition(".")
        return (own, outer.rpartition(".")[2]) if own.startswith("__") and outer else (own,)


def library_calls(facts: list[dict[str, Any]]) -> list[LibraryCall]:
    """Return them from what a process wrote."""
    return [
        LibraryCall(str(fact["library"]), str(fact["called"]), int(fact["by"]), int(fact["line"]))
        for fact in facts
        if {"library", "called", "by", "line"} <= set(fact)
    ]
