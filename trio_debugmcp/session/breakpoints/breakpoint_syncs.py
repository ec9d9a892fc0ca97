"""`BreakpointSyncs`: the sessions whose adapters get the breakpoints, and what stays in force between sessions.

Whatever changes a breakpoint merges the change here, and sends it to all sessions that accept it.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from math import inf

import trio

from trio_debugmcp.errors import AdapterGone, DebugError, UsageError
from trio_debugmcp.patience import Patience
from trio_debugmcp.session.breakpoints.breakpoint_sync import EXCEPTIONS, FUNCTIONS, BreakpointSync
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.requests import REQUEST_SECONDS
from trio_debugmcp.state.breakpoint import ExceptionBreakpoint, StopPlace
from trio_debugmcp.state.changes import Change
from trio_debugmcp.state.model import State

log = logging.getLogger(__name__)

_MAX_NAMED = 5

EACH_SECONDS = REQUEST_SECONDS + 1.0
"""For one of several sessions to take a change. What it does not take in this time is sent again when it answers.

A little longer than for a request, so that what did not answer is known as such."""


class BreakpointSyncs:
    """Those of one server.

    Attributes:
        earlier: the ids of those that were in force in an earlier session, and have not been set again since.
        carried: those of which that held when the last session began.
        unconfirmed: of each breakpoint that was sent, the sessions that did not answer, where others did.
    """

    def __init__(self, merger: Merger, patience: Patience) -> None:
        self._patience = patience
        self._merger = merger
        self._syncs: list[BreakpointSync] = []
        self._notifications: Counter[tuple[str, int]] = Counter()
        self.earlier: set[str] = set()
        self.carried: frozenset[str] = frozenset()
        self.unconfirmed: dict[str, tuple[str, ...]] = {}

    def __repr__(self) -> str:
        return f"<BreakpointSyncs of {len(self._syncs)} sessions>"

    def __iter__(self) -> Iterator[BreakpointSync]:
        return iter(list(self._syncs))

    @property
    def accepting(self) -> list[BreakpointSync]:
        """The sessions whose adapters take breakpoints now."""
        return [sync for sync in self._syncs if sync.accepting]

    def add(self, sync: BreakpointSync) -> None:
        """Send changes to this session too, as soon as it accepts them."""
        if not self._syncs:
            self._notifications.clear()
            self.carried = frozenset(self.earlier)
        self._syncs.append(sync)
        sync.lines.suffixes = lambda: {suffix for other in self._syncs for suffix in other.profile.detect.suffixes}

    def remove(self, sync: BreakpointSync) -> None:
        """Send nothing more to this session; removing it twice is fine."""
        self._syncs = [other for other in self._syncs if other is not sync]
        if not self._syncs:
            self.earlier = {breakpoint.id for breakpoint in self._merger.state.every_breakpoint}

    def lag(self, state: State) -> bool:
        """Whether an adapter has other breakpoints than it should, which its session is about to send."""
        return any(sync.lags(state) for sync in self._syncs)

    def take_notification(self, tracepoint: StopPlace) -> bool:
        """Return whether a tracepoint may still notify, and count it: the processes of a program have one limit."""
        key = (tracepoint.id, tracepoint.version)
        if 0 < tracepoint.spec.max_notifications <= self._notifications[key]:
            return False
        self._notifications[key] += 1
        return True

    async def merge(self, change: Change) -> None:
        """Merge a change, also for a caller that is cancelled."""
        # Shielded, which is bounded: a caller that is cancelled here would leave a breakpoint that all lists show and
        # no adapter has. What it does not send any more, `BreakpointSync.keep_in_step` sends.
        with trio.CancelScope(shield=True):
            await self._merger.merge(change)

    async def send(self, changed: Iterable[StopPlace | ExceptionBreakpoint]) -> None:
        """Send what these breakpoints are part of: their files, the functions, the exceptions.

        Some sessions may not answer: they are `unconfirmed`, and get the change when they do. One of several has
        `EACH_SECONDS` for all that is sent: it may be busy with what was sent before.

        Raises:
            DebugError: an adapter refused, or none has what was set; the others have got the change.
        """
        changed = list(changed)
        lines = [breakpoint for breakpoint in changed if isinstance(breakpoint, StopPlace)]
        wanted = {line.spec.file for line in lines if line.spec.file is not None}
        wanted |= {FUNCTIONS for line in lines if line.spec.function is not None}
        wanted |= {EXCEPTIONS for breakpoint in changed if isinstance(breakpoint, ExceptionBreakpoint)}
        addressed = any(line.spec.address or line.spec.watch for line in lines)
        asked = self.accepting
        seconds = self._patience.seconds(EACH_SECONDS) if len(asked) > 1 else inf
        failures: dict[str, DebugError] = {}

        async def send(sync: BreakpointSync) -> None:
            try:
                with trio.fail_after(seconds):
                    await sync.send(wanted)
                    if addressed:
                        await sync.addressed.send()
            except trio.TooSlowError:
                sentence = f"{sync.profile.name} did not take the breakpoints within {seconds:g} s."
                failures[sync.session_id] = UsageError("TIMEOUT", sentence)
            except AdapterGone as gone:  # then the adapter has no breakpoints any more, either
                log.debug("%r: %s", sync, gone)
            except DebugError as error:
                failures[sync.session_id] = error

        async with trio.open_nursery() as nursery:
            for sync in asked:
                nursery.start_soon(send, sync)
        silent = self._set_unconfirmed(changed, asked, failures)
        failures = {each: error for each, error in failures.items() if each not in silent}
        if failures:
            raise _of_those(
                {each: failures[each] for sync in asked if (each := sync.session_id) in failures}, len(asked)
            )

    def _set_unconfirmed(
        self,
        changed: list[StopPlace | ExceptionBreakpoint],
        asked: list[BreakpointSync],
        failures: Mapping[str, DebugError],
    ) -> tuple[str, ...]:
        """Keep which of several sessions have not answered, and return them, unless none has what was set."""
        set_now = {breakpoint.id for breakpoint in self._merger.state.every_breakpoint}
        changed_now = {breakpoint.id for breakpoint in changed}
        self.unconfirmed = {id_: silent for id_, silent in self.unconfirmed.items() if id_ in set_now - changed_now}
        silent = tuple(each.session_id for each in asked if _is_silence(failures.get(each.session_id)))
        if not silent or len(asked) == 1 or (len(silent) == len(asked) and changed_now & set_now):
            return ()
        self.unconfirmed |= dict.fromkeys(changed_now, silent)
        return silent


def _is_silence(error: DebugError | None) -> bool:
    return isinstance(error, UsageError) and error.code == "TIMEOUT"


def _of_those(failures: Mapping[str, DebugError], asked: int) -> DebugError:
    """Return the first error of some sessions, with which these are, where others have got the change."""
    first = next(iter(failures.values()))
    if len(failures) == asked or not isinstance(first, UsageError):
        return first
    named = ", ".join(list(failures)[:_MAX_NAMED])
    more = f" and {len(failures) - _MAX_NAMED} more" if len(failures) > _MAX_NAMED else ""
    where = f"It failed in {named}{more}; the other sessions have the change."
    return UsageError(first.code, f"{first.message} {where}", first.details)
