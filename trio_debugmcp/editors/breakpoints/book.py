"""`EditorBook`: which breakpoints editors have set, on exceptions as well, over all their connections.

The registry has all breakpoints, and knows which client has set which as long as it is connected. An editor connects
anew for each session, and sends all its breakpoints again. So what only editors have set ends with the session that
they were in, and not with their connection.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import trio

from trio_debugmcp.editors.breakpoints.announced import Announced
from trio_debugmcp.editors.editor_programs import EditorPrograms
from trio_debugmcp.errors import DebugError
from trio_debugmcp.session.breakpoints.ownership import Owner
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.state.breakpoint import Breakpoint

log = logging.getLogger(__name__)

SETTLE_SECONDS = 0.5
"""For what an editor was setting when it left to be set, or not. Without a program no adapter is waited for."""

GOING_ON = ("restarted",)
"""Reasons for the end of a session after which its program is run again: breakpoints stay."""


class EditorBook:
    """The breakpoints of all editors, by their ids.

    Attributes:
        programs: those that the editors are in.
        watched: the breakpoint that each editor has set for an id of data and a kind of access.
        announced: the breakpoints of others that were reported to them.
    """

    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger
        self._owners: dict[str, set[Owner]] = {}
        self._wishes = debugger.breakpoints.exceptions.wishes
        self._setting: Counter[Owner] = Counter()
        self._settled = trio.lowlevel.ParkingLot()
        self.programs = EditorPrograms(debugger)
        self.watched: defaultdict[Owner, dict[tuple[str, str], str]] = defaultdict(dict)
        self.announced = Announced()
        debugger.breakpoints.owners.followers.append(self._follow)
        debugger.breakpoints.owners.witnesses.append(self._witness)

    def __repr__(self) -> str:
        editors = {*self.programs.editors, *self.watched}
        return f"<EditorBook of {len(self._owners)} breakpoints and {len(editors)} editors>"

    @contextmanager
    def noting(self, owner: Owner) -> Iterator[None]:
        """Record what an editor sets in the block, as soon as it exists: the block may be cancelled before its end."""
        self._setting[owner] += 1
        try:
            yield
        finally:
            self._setting[owner] -= 1
            if not self._setting[owner]:
                del self._setting[owner]
                self._settled.unpark_all()

    def _witness(self, breakpoint_id: str, owner: Owner) -> None:
        if owner not in self._setting:  # an agent's
            return
        self._owners.setdefault(breakpoint_id, set()).add(owner)
        self.programs.keep(owner)

    async def left(self, owner: Owner) -> None:
        """Record that an editor has left. What it has set stays while its program is debugged."""
        self.programs.left(owner)
        if not self.programs.are_of(owner):
            with trio.move_on_after(self._debugger.patience.seconds(SETTLE_SECONDS)):
                while owner in self._setting:
                    await self._settled.park()
        mine = any(owner in those for those in self._owners.values()) or self._wishes.wanted_by(owner)
        if not mine or not self.programs.are_of(owner):  # it has waited in vain, or the launch has failed
            await self._forget(owner)

    def is_owner(self, owner: Owner, breakpoint_id: str) -> bool:
        """Return whether this editor has set a breakpoint."""
        return owner in self._owners.get(breakpoint_id, ())

    def is_familys(self, owner: Owner, breakpoint_id: str) -> bool:
        """Return whether this editor has set a breakpoint, by any of its connections."""
        return any(self.programs.is_one(other, owner) for other in self._owners.get(breakpoint_id, ()))

    def of(self, owner: Owner, is_meant: Callable[[Breakpoint], bool]) -> list[Breakpoint]:
        """Return what an editor has set, of those that are meant."""
        return [
            breakpoint
            for breakpoint in self._debugger.state.breakpoints
            if is_meant(breakpoint) and self.is_owner(owner, breakpoint.id)
        ]

    def take_over(self, owner: Owner, is_meant: Callable[[Breakpoint], bool]) -> list[str]:
        """Record that what this editor had set before it left is its own: it is back. Returns the ids of these."""
        pairs = [
            (before, breakpoint) for before in self.programs.gone(owner) for breakpoint in self.of(before, is_meant)
        ]
        for before, breakpoint in pairs:
            self._owners[breakpoint.id] = self._owners.get(breakpoint.id, set()) - {before} | {owner}
            self._debugger.breakpoints.owners.add(breakpoint.id, owner)
            watched = self.watched[before]
            for key in [key for key, breakpoint_id in watched.items() if breakpoint_id == breakpoint.id]:
                self.watched[owner][key] = watched.pop(key)
        return [breakpoint.id for _, breakpoint in pairs]

    def pass_on_exceptions(self, owner: Owner) -> None:
        """Record that what editors of this name wanted of exceptions before they left is this one's: it is back."""
        for before in self.programs.gone(owner):
            self._wishes.pass_on(before, owner)

    def _follow(self, one_id: str, other_id: str) -> None:
        """Record that another breakpoint takes the place of one: a client has edited it, and it is of another kind."""
        if one_id != other_id and one_id in self._owners:
            self._owners.setdefault(other_id, set()).update(self._owners.pop(one_id))

    def is_only(self, owner: Owner, breakpoint_id: str) -> bool:
        """Return whether no client but this editor has set a breakpoint."""
        others = self._owners.get(breakpoint_id, set()) - {owner}
        return not others and not self._debugger.breakpoints.owners.has_other(breakpoint_id, owner)

    async def leave(self, owner: Owner, breakpoint: Breakpoint) -> bool:
        """Take an editor's share of a breakpoint away; return whether no client has set it any more."""
        owners = self._owners.get(breakpoint.id, set())
        owners.discard(owner)
        shared = await self._debugger.breakpoints.leave(breakpoint.id, owner)
        if owners or shared:
            return False
        self._owners.pop(breakpoint.id, None)
        return True

    # --- Ends of sessions ------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Remove what only editors have set when their program has ended, until cancelled."""
        seen = self._debugger.state.ended
        while True:
            state = await self._debugger.merger.wait_until(lambda now: now.ended is not seen)  # noqa: B023
            fresh = [snapshot for snapshot in state.ended if snapshot not in seen]
            seen = state.ended
            for snapshot in fresh:
                for owner in self.programs.ended(snapshot.id, state, goes_on=snapshot.end_reason in GOING_ON):
                    await self._forget(owner)

    async def _forget(self, owner: Owner) -> None:
        """Remove what only this editor has set."""
        self.programs.forget(owner)
        self.watched.pop(owner, None)
        self._wishes.kept.discard(owner)
        for exception in self._debugger.state.exceptions:
            if self._wishes.of(exception.exception_type, owner) is not None:
                try:
                    await self._debugger.breakpoints.exceptions.leave(exception, owner)
                except DebugError as error:
                    log.info("leaving %s: %s", exception.id, error)
        for breakpoint_id in [id_ for id_, those in self._owners.items() if owner in those]:
            found = next(
                (breakpoint for breakpoint in self._debugger.state.breakpoints if breakpoint.id == breakpoint_id), None
            )
            if found is None:
                self._owners.pop(breakpoint_id, None)
            elif await self.leave(owner, found):
                try:
                    await self._debugger.breakpoints.remove(breakpoint_id)
                except DebugError as error:  # another client has removed it, or an adapter is ending
                    log.info("removing %s: %s", breakpoint_id, error)
