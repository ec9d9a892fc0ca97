"""`DebuggedProgram`: a root session with those that come from it, with its streams and its sources."""

from math import inf

import trio

from trio_debugmcp.dap.messages import Capabilities
from trio_debugmcp.dap.profiles.profile import Profile
from trio_debugmcp.dap.profiles.starts import RootStart
from trio_debugmcp.errors import DebugError
from trio_debugmcp.session.looking.sources import Sources
from trio_debugmcp.session.output.console import Console


class DebuggedProgram:
    """A root session with those that come from it, and what they share. Made by `Programs.add`.

    Attributes:
        id: of the root session.
        console: the streams of its processes.
        sources: the source files that it is known to consist of.
        sessions: the ids of its sessions, also of those that have ended.
        owner: the client that controls it, if any; `orphaned_at`: when the last owner disconnected, by Trio's clock.
        was_started: it was allowed to run.
        able: what its adapter declared, once it was.
        start_over: set unless it is being started; `late_failures`: why that failed after the wait for it.
    """

    def __init__(self, root_id: str, profile: Profile, start: RootStart, console: Console, sources: Sources) -> None:
        self.id, self.profile, self.start = root_id, profile, start
        self.console, self.sources = console, sources
        self.sessions = {root_id}
        self.owner: object = None
        self.orphaned_at = inf
        self.was_started = False
        self.able = Capabilities()
        self.start_over = trio.Event()
        self.late_failures = list[DebugError]()

    def __repr__(self) -> str:
        return f"<DebuggedProgram {self.id} {self.profile.name} of {len(self.sessions)} sessions>"
