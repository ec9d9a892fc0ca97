"""`StopLocals`: the locals of the top frame in the state, fetched again when a client may have changed some."""

import logging

import trio

from trio_debugmcp.dap.messages import Nothing
from trio_debugmcp.errors import DebugError
from trio_debugmcp.session.breakpoints.watched_values import WatchedValues
from trio_debugmcp.session.looking.by_probe.own_questions import EXAMINATION_SECONDS
from trio_debugmcp.session.looking.frames import ProgramFrames
from trio_debugmcp.session.looking.stop_questions import StopQuestions
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.changes import LocalsFetched
from trio_debugmcp.state.model import Locals, Snapshot

log = logging.getLogger(__name__)


class StopLocals:
    """The locals at the stops of one session.

    Args:
        watched: what data breakpoints watch, which a client may have changed, too.
    """

    def __init__(
        self,
        requests: Requests,
        merger: Merger,
        frames: ProgramFrames,
        questions: StopQuestions,
        watched: WatchedValues,
    ) -> None:
        self._requests = requests
        self._merger = merger
        self._frames = frames
        self._questions = questions
        self._watched = watched
        self._refreshing = False

    def __repr__(self) -> str:
        return f"<StopLocals of {self._requests.session_id}{', refreshing' if self._refreshing else ''}>"

    def refresh(self, nursery: trio.Nursery, snapshot: Snapshot) -> None:
        """Fetch the top frame's locals again; calls that come before that task runs are served by it, too."""
        if snapshot.phase == "Paused" and snapshot.stack.frames and not self._refreshing:
            self._refreshing = True
            self._watched.forget()
            nursery.start_soon(self._refresh, snapshot)

    async def _refresh(self, snapshot: Snapshot) -> None:
        self._refreshing = False
        try:
            renew = self._requests.profile.renew
            if renew is not None:
                arguments = {"expression": renew, "context": "repl"}
                await self._requests.request_or_empty("evaluate", arguments, Nothing, seconds=EXAMINATION_SECONDS)
            frame = await self._frames.find(snapshot, None, 0)
            where = snapshot.stack.thread_id or 0, frame.id
            await self.merge(snapshot, await self._questions.locals(*where, again=True))
            await self._watched.catch_up()
        except DebugError as error:
            log.info("refreshing the locals: %s", error)

    async def merge(self, snapshot: Snapshot, found: Locals) -> None:
        """Put locals into the state; those of a stop that is over are dropped there."""
        await self._merger.merge(LocalsFetched(self._requests.session_id, snapshot.generation, found))
