"""`ReverseRequests`: what a session's adapter asks of us: to run the program, and to open sessions for its children."""

from collections.abc import Awaitable, Callable

from trio_debugmcp.dap.codec import decode_body
from trio_debugmcp.dap.messages import Request, RunInTerminal, StartDebugging
from trio_debugmcp.dap.profiles.profile import Profile
from trio_debugmcp.dap.profiles.starts import Attach, ChildStart, Launch, Start
from trio_debugmcp.errors import AdapterGone, AdapterRefused, CannotRun, UsageError
from trio_debugmcp.session.ending import Ending
from trio_debugmcp.session.handshake import Handshake
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.output.terminal import Terminals
from trio_debugmcp.session.process_facts import learn_process
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.session.start import without_unset
from trio_debugmcp.session.verbs import Verbs

OpenChild = Callable[[str, Profile, ChildStart], Awaitable[None]]
"""Adopts a child: the parent's id, its profile, and how the child starts."""


class ReverseRequests:
    """The requests of one session's adapter. `parent`: the session's own."""

    def __init__(
        self,
        requests: Requests,
        merger: Merger,
        start: Start,
        parent: str | None,
        handshake: Handshake,
        ending: Ending,
        terminals: Terminals,
        verbs: Verbs,
        open_child: OpenChild,
    ) -> None:
        self._requests = requests
        self._merger = merger
        self._start = start
        self._parent = parent
        self._handshake = handshake
        self._ending = ending
        self._terminals = terminals
        self._verbs = verbs
        self._open_child = open_child
        launches_only = requests.profile.habits.launches_only
        self._asked = start if isinstance(start, Launch | Attach) and launches_only else None

    def __repr__(self) -> str:
        return f"<ReverseRequests to {self._requests.session_id}>"

    async def serve(self, request: Request) -> object:
        """Do what is asked, and return the body of the response.

        Raises:
            AdapterRefused: this client does not serve that request, or not any more.
            CannotRun: the program cannot be started.
        """
        match request.command:
            case "runInTerminal":
                return await self._run_in_terminal(decode_body(request.arguments, RunInTerminal))
            case "startDebugging":
                await self._start_debugging(request.command, decode_body(request.arguments, StartDebugging))
                return {}
            case command:
                raise AdapterRefused(command, "this client does not serve that request")

    async def _start_debugging(self, command: str, child: StartDebugging) -> None:
        profile, adopter = self._requests.profile, self._requests.session_id
        if self._ending.over:  # a daemon's parent, say, whose own parent may live: else the child is refused
            if self._parent is None or not profile.child_outlives_parent(child.configuration):
                raise AdapterRefused(command, "the session is over")
            adopter = self._parent
        # The first is the program; what that starts are children of its own session.
        asked, self._asked = self._asked, None
        adapter = self._requests.adapter
        address = None if adapter is None else adapter.address
        start = ChildStart(child.request, child.configuration, address, asked)
        with self._ending.adoptions.one():
            await self._open_child(adopter, profile, start)

    async def _run_in_terminal(self, wanted: RunInTerminal) -> object:
        if self._verbs.tasks is None:
            raise AdapterGone("the session is over")
        wanted = without_unset(self._start, wanted)
        try:
            pid: int = await self._verbs.tasks.start(self._terminals.run, wanted)
        except CannotRun as failure:
            # Some adapters wait on although their request was refused, so the handshake is aborted from here.
            reason = f"Cannot run {failure.program}: {failure.reason}. Correct it, and call debug_launch again."
            self._handshake.abort(UsageError("LAUNCH_FAILED", reason))
            raise
        if self._handshake.done:
            await learn_process(self._requests, self._merger, pid)
        return {"processId": pid}
