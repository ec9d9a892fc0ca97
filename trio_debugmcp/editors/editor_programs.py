"""`EditorPrograms`: in which programs each editor is, over its connections, and which connections are one editor.

    programs = EditorPrograms(debugger)
    programs.joined(owner, "s-1", family)
    programs.gone(owner)                    # the connections that the same editor had before

An editor that comes back is known by its name, and so is another person's of the same product. So what one has left
behind is the next one's of its name only if there was no such other when it left. The connections that an editor was
asked to open for other sessions are the same editor, which their configuration says: a family.
"""

from collections.abc import Iterator

from msgspec import Struct

from trio_debugmcp.editors.numbers import number_of
from trio_debugmcp.session.breakpoints.ownership import Owner
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.state.model import State


class _Restarted(Struct, frozen=True):
    """Stands for the next run of a program that was restarted: the first one beside those that were there then."""

    known: frozenset[str]

    def is_of(self, program: str, state: State) -> bool:
        """Return whether this program is that run."""
        return min(_programs(state) - self.known, key=number_of, default=None) == program


class EditorPrograms:
    """The programs that the editors of one server are in."""

    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger
        self._programs: dict[Owner, set[str | _Restarted]] = {}
        self._here: set[Owner] = set()
        self._families: dict[Owner, str] = {}
        self._contested: set[Owner] = set()

    def __repr__(self) -> str:
        return f"<EditorPrograms of {len(self.editors)} editors>"

    @property
    def editors(self) -> set[Owner]:
        """The editors that are known."""
        return {*self._programs, *self._families, *self._contested}

    def joined(self, owner: Owner, program: str | None, family: str) -> None:
        """Record in which program an editor is. One that shows whatever is in focus is in several.

        `family`: what its connections have in common.
        """
        self._families[owner] = family
        programs = self._programs.setdefault(owner, set())
        if program is not None:
            runs = {entry for entry in programs if _is_run(entry, program, self._debugger.state)}
            self._programs[owner] = (programs - runs) | {program}
        self._here.add(owner)
        self._debugger.breakpoints.exceptions.wishes.kept.add(owner)

    def left(self, owner: Owner) -> None:
        """Record that an editor has left."""
        self._here.discard(owner)
        if any(other[1] == owner[1] and not self.is_one(other, owner) for other in self._here):
            self._contested.add(owner)

    def are_of(self, owner: Owner) -> bool:
        """Return whether an editor is, or was, in a program that is still debugged."""
        return bool(self._programs.get(owner))

    def keep(self, owner: Owner) -> None:
        """Have what an editor sets end with the programs that there are: it may have left while that was being set."""
        self._programs.setdefault(owner, {*self._debugger.state.roots().values()})

    def ended(self, program: str, state: State, *, goes_on: bool) -> Iterator[Owner]:
        """Take a program that has ended away from all editors; yields those that are in no other."""
        for owner, programs in list(self._programs.items()):
            ended = {entry for entry in programs if entry == program or _is_run(entry, program, state)}
            if not ended:
                continue
            programs.difference_update(ended)
            if goes_on:
                programs.add(_Restarted(_programs(state)))
            if not programs:
                yield owner

    def forget(self, owner: Owner) -> None:
        """Forget in which programs an editor was; one that has left is known no more."""
        self._programs.pop(owner, None)
        if owner not in self._here:
            self._families.pop(owner, None)
            self._contested.discard(owner)

    def gone(self, owner: Owner) -> list[Owner]:
        """Return the connections that this editor had before. Another person's may have its name."""
        return [
            program
            for program in self._programs
            if program[1] == owner[1]
            and program not in self._here
            and (program not in self._contested or self.is_one(program, owner))
        ]

    def is_one(self, one: Owner, other: Owner) -> bool:
        """Return whether two connections are one editor."""
        return one == other or self._families.get(one, one) == self._families.get(other, other)


def _is_run(entry: str | _Restarted, program: str, state: State) -> bool:
    return isinstance(entry, _Restarted) and entry.is_of(program, state)


def _programs(state: State) -> frozenset[str]:
    """Return the ids of the programs that there are, and of the last ones that there were."""
    return frozenset({*state.roots().values(), *(snapshot.id for snapshot in state.ended)})
